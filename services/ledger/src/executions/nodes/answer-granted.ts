import type { GraphNode } from '@gateway/api/graph'
import type { Claimed, ClaimItem } from '@gateway/ledger-protocol/flow-items'
import type { Sql } from '@gateway/database/client'
import type { Deps } from '../../deps.ts'
import { type ExecutionCache, sourcesIn } from '../cache/load-executions.ts'
import type { Flow } from '../cache/flow.ts'
import { type ExecutionChange, type ExecutionFacts, readExecutions } from '../store/read-executions.ts'
import type { Granted, WaitingNode } from './node-item.ts'
import type { NodeBatchResult } from './run-node-batch.ts'

/** Characters of a node, its inputs and its contract, up to which it is returned ahead (R13 of decide-execution.ts). */
const READY_CHARACTERS = 8_192

/** A node that was granted to a worker, with the state of its execution. */
interface Grant {
  granted: Granted
  execution: ExecutionFacts
  change: ExecutionChange | null
  flow: Flow
  /** Outputs of its sources, JSON text by ordinal; null: some are not known to this replica. */
  sources: ReadonlyMap<number, string> | null
}

/** Returns what workers need to run the nodes granted to them: claimed, chained or ready (R10, R13 of decide-execution.ts). */
export async function answerGranted(
  { packageCache }: Pick<Deps, 'packageCache'>,
  { sql, cache }: { sql: Sql; cache: Pick<ExecutionCache, 'outputsOf'> },
  { loaded, outcomes }: NodeBatchResult,
  batch: readonly WaitingNode[],
): Promise<Map<Granted, Claimed>> {
  const grants: Grant[] = []
  for (const waiting of batch) {
    const { outcome, change } = outcomes.get(waiting)!
    if (outcome.kind !== 'claimed' && outcome.kind !== 'completed') continue
    const { next: granted, ready = [] } = outcome.kind === 'claimed' ? { next: outcome } : outcome
    if (granted === undefined && ready.length === 0) continue
    const execution = loaded.executions.get(waiting.item.execution)!
    const flow = await packageCache.get(execution)
    const known = { execution, change, flow, outputs: cache.outputsOf(execution.id) }
    if (granted !== undefined) {
      const sources = loaded.sourcesOf.get(waiting.item) ?? knownSources({ ...known, granted })
      grants.push({ granted, execution, change, flow, sources })
    }
    for (const granted of ready) {
      const sources = knownSources({ ...known, granted })
      if (sources !== null && isSmall(flow, granted.ordinal, sources))
        grants.push({ granted, execution, change, flow, sources })
    }
  }
  await readMissing(sql, grants)
  return new Map(
    grants.map(({ granted, execution, change, flow, sources }) => [
      granted,
      answerClaim({ execution, change, granted, flow, sources: sources! }),
    ]),
  )
}

const sizes = new WeakMap<GraphNode, number>()

function isSmall({ plan, outputContract }: Flow, ordinal: number, sources: ReadonlyMap<number, string>): boolean {
  const { node } = plan.nodes[ordinal]!
  let size = sizes.get(node)
  if (size === undefined) sizes.set(node, (size = JSON.stringify(node).length))
  if (ordinal === plan.output) size += outputContract.length
  for (const text of sources.values()) size += text.length
  return size <= READY_CHARACTERS
}

function knownSources({
  execution,
  change,
  flow,
  granted,
  outputs,
}: Omit<Grant, 'sources'> & { outputs: ReadonlyMap<number, string> }): Map<number, string> | null {
  const after = (ordinal: number) => change?.nodes.get(ordinal) ?? execution.nodes[ordinal]
  const ended = sourcesIn(flow.plan.nodes[granted.ordinal]).filter((ordinal) => after(ordinal)?.state === 'Succeeded')
  const known = new Map<number, string>()
  for (const ordinal of ended) {
    const text = change?.nodes.get(ordinal)?.output ?? outputs.get(ordinal)
    if (text === undefined) return null
    known.set(ordinal, text)
  }
  return known
}

/** Reads all missing outputs in one query: another replica has written them, or they were evicted from the cache. */
async function readMissing(sql: Sql, grants: Grant[]): Promise<void> {
  const missing = grants.filter(({ sources }) => sources === null)
  if (missing.length === 0) return
  const claims = missing.map(({ execution, flow, granted }): ClaimItem => ({
    op: 'claim',
    execution: execution.id,
    node: flow.plan.nodes[granted.ordinal]!.id,
    lease: '',
    instance: '',
    attempt: 1,
  }))
  const { sourcesOf } = await readExecutions(sql, claims)
  missing.forEach((grant, n) => (grant.sources = sourcesOf.get(claims[n]!)!))
}

interface ClaimAnswer {
  execution: ExecutionFacts
  /** null: the lease was granted earlier, and this is a retry. */
  change: ExecutionChange | null
  granted: Granted
  flow: Flow
  /** Outputs of its sources, JSON text by ordinal. */
  sources: ReadonlyMap<number, string>
}

/** Composes what a worker needs to run its leased node. */
function answerClaim({
  execution,
  change,
  granted: { ordinal, remainingMs, isUnrecorded },
  flow,
  sources,
}: ClaimAnswer): Claimed {
  const { node, sources: sourcesByPort } = flow.plan.nodes[ordinal]!
  const { attempt, call, reservation } = change?.nodes.get(ordinal) ?? execution.nodes[ordinal]!
  const inOrder = [...sources].toSorted(([a], [b]) => a - b) // so a retried claim gets the same text, cached or read
  return {
    kind: 'claimed',
    project: execution.project,
    node,
    sources: sourcesByPort,
    outputs: Object.fromEntries(inOrder.map(([source, text]) => [flow.plan.nodes[source]!.id, text])),
    contract: ordinal === flow.plan.output ? flow.outputContract : null,
    remainingMs,
    attempt,
    ...(isUnrecorded && { isUnrecorded }),
    callId: call ?? '', // empty for a node without a paid call
    callReservation: reservation ?? '',
  }
}
