import { AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import { executionCancelled } from '@gateway/api/execution'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { ProviderFailure, refusalOfProvider, tooLarge } from '@gateway/providers/provider-failure'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import { Refusal, refuse } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'
import { LeaseLost, WorkCancelled, type Work } from '../work.ts'

/**
 * Turns a failure into the result of a node. The error tells the node's author what they can do about it; an unexpected
 * failure is logged, and the error says that it was unexpected.
 */
export function explainFailure({ log }: Pick<Deps, 'log'>, error: unknown, work: Work): CompleteItem['result'] {
  const { execution, node } = work.lease
  if (error instanceof WorkCancelled && error.reason === 'stopping') return { kind: 'given-back' }
  // Nothing was called yet. The ledger decides who has the lease: it accepts this or returns `fenced`. It may be ours
  // again: a claim lost in a Postgres crash is granted again when the execution is checked (F6 of write_executions).
  if (error instanceof LeaseLost) return { kind: 'given-back' }
  const refusal = foreseen() ?? unexpected()
  return { kind: 'failed', error: JSON.stringify(refusal.body) }

  function foreseen(): Refusal | null {
    if (error instanceof Refusal) return error
    if (error instanceof ProviderFailure) return refusalOfNode(error, work)
    if (error instanceof LedgerUnavailable || error instanceof AssetStoreUnavailable) {
      log.warn({ err: error, execution, node }, 'node failed: a service is unreachable')
      return refuse('unavailable', {})
    }
    if (error instanceof WorkCancelled && error.reason === 'overdue')
      return refuse('execution_timeout', { started: true })
    if (error instanceof WorkCancelled && error.by !== null) return executionCancelled(error.by)
    return error instanceof WorkCancelled ? stoppedNode(node) : null
  }

  function unexpected(): Refusal {
    log.error({ err: error, execution, node }, 'node failed: unexpected error')
    return refuse('node_failed', { node })
  }
}

/** The execution began to fail while the node ran. */
function stoppedNode(node: string): Refusal {
  return new Refusal(
    'node_failed',
    `Node ${node} was stopped, because the execution was failing.`,
    'See the error of the execution.',
    { details: { executionFailing: true } },
  )
}

/** Rewords the refusal of a direct call for a node: its author sees ports and params, not messages. */
function refusalOfNode(failure: ProviderFailure, { claim }: Work): Refusal {
  if (failure.limitBytes !== undefined) return tooLargeForNode(failure.limitBytes, claim.node.kind)
  const refusal = refusalOfProvider(failure)
  if (refusal.code !== 'invalid_request') return refusal
  const { unsayable } = failure
  if (unsayable === undefined || unsayable.field.startsWith('messages'))
    return refuse('invalid_request', {
      reason: 'The model refused this call unchanged.',
      resolution: 'Change what comes to the ports of the node, or its params; or use another model in it.',
    })
  const { field, problem, instead } = unsayable
  const facts = {
    reason: `The model does not take the params of this node: ${field} ${problem}.`,
    resolution: `Correct ${field} in the params of the node: ${instead}. Or use another model in it.`,
  }
  return refuse('invalid_request', facts, { param: field })
}

function tooLargeForNode(limitBytes: number, kind: string): Refusal {
  const less =
    kind === 'product.audio' ? 'Shorten the text, choose the format mp3' : 'Choose a smaller size or the format jpeg'
  const resolution = `${less}, or have an operator raise Max output bytes of the product.`
  return refuse('invalid_request', { reason: tooLarge(limitBytes), resolution })
}
