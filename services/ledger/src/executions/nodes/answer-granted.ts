import type { Claimed, ClaimItem } from '@gateway/ledger-protocol/flow-items'
import type { Sql } from '@gateway/database/client'
import type { Deps } from '../../deps.ts'
import { type ExecutionCache, sourcesIn } from '../cache/load-executions.ts'
import type { Flow } from '../cache/flow.ts'
import type { ExecutionChange, ExecutionFacts } from '../store/execution-facts.ts'
import { readExecutions } from '../store/read-executions.ts'
import type { Granted, WaitingNode } from './node-item.ts'
import type { NodeBatchResult } from './run-node-batch.ts'

/** A node that was granted to anyone who asked, and what is known of its execution. */
interface Grant {
  waiting: WaitingNode
  granted: Granted
  execution: ExecutionFacts
  change: ExecutionChange | null
  flow: Flow
  /** What its sources answered, JSON text by ordinal; null: not all of it is known here. */
  sources: ReadonlyMap<number, string> | null
}

/** What workers need to run the nodes that a batch has granted them, claimed or chained (R10 of decide-execution.ts). */
export async function answerGranted(
  { packageCache }: Pick<Deps, 'packageCache'>,
  { sql, cache }: { sql: Sql; cache: Pick<ExecutionCache, 'outputsOf'> },
  { loaded, outcomes }: NodeBatchResult,
  batch: readonly WaitingNode[],
): Promise<Map<WaitingNode, Claimed>> {
  const grants: Grant[] = []
  for (const waiting of batch) {
    const { outcome, change } = outcomes.get(waiting)!
    const granted = outcome.kind === 'claimed' ? outcome : outcome.kind === 'completed' ? outcome.next : undefined
    if (granted === undefined) continue
    const execution = loaded.executions.get(waiting.item.execution)!
    const flow = await packageCache.get(execution)
    const outputs = cache.outputsOf(execution.id)
    const sources = loaded.sourcesOf.get(waiting.item) ?? knownSources({ execution, change, flow, granted, outputs })
    grants.push({ waiting, granted, execution, change, flow, sources })
  }
  await readMissing(sql, grants)
  return new Map(
    grants.map(({ waiting, granted, execution, change, flow, sources }) => [
      waiting,
      answerClaim({ execution, change, granted, flow, sources: sources! }),
    ]),
  )
}

function knownSources({
  execution,
  change,
  flow,
  granted,
  outputs,
}: Omit<Grant, 'waiting' | 'sources'> & { outputs: ReadonlyMap<number, string> }): Map<number, string> | null {
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

/** One reading for all of which something is missing: another replica has written it, or it was forgotten here. */
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
  /** null: the lease was granted before, and is asked for again. */
  change: ExecutionChange | null
  granted: Granted
  flow: Flow
  /** What its sources answered, JSON text by ordinal. */
  sources: ReadonlyMap<number, string>
}

/** What a worker needs to run the node that it was granted. */
function answerClaim({ execution, change, granted: { ordinal, remainingMs }, flow, sources }: ClaimAnswer): Claimed {
  const { node, sources: sourcesByPort } = flow.plan.nodes[ordinal]!
  const { attempt, call, reservation } = change?.nodes.get(ordinal) ?? execution.nodes[ordinal]!
  const inOrder = [...sources].toSorted(([a], [b]) => a - b) // a claim asked again answers the same text, cached or read
  return {
    kind: 'claimed',
    project: execution.project,
    node,
    sources: sourcesByPort,
    outputs: Object.fromEntries(inOrder.map(([source, text]) => [flow.plan.nodes[source]!.id, text])),
    contract: ordinal === flow.plan.output ? flow.outputContract : null,
    remainingMs,
    attempt,
    callId: call ?? '', // of a node that pays for nothing
    callReservation: reservation ?? '',
  }
}
