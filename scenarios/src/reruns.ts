import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionDetail, ExecutionRecord } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import type { Stack } from './stack.ts'

export interface RerunCall {
  /** Console API path of the project. */
  path: string
  /** Personal token of a user. */
  token: string
  execution: string
  from: string
  idempotencyKey: string
}

const AGAIN_MS = 50
const PATIENCE_MS = 15_000

/** Reruns an execution from a node through the gateways in turn, and repeats under its key until one returns a record. */
export async function rerunUntilOver(
  { gateways }: Pick<Stack, 'gateways'>,
  { path, token, execution, from, idempotencyKey }: RerunCall,
): Promise<ExecutionDetail> {
  for (let n = 0; ; n++) {
    const answer = await fetch(`${gateways[n % gateways.length]!.url}${path}/executions/${execution}/rerun`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify({ from }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
      .then(async (sent) => ({ status: sent.status, text: await sent.text() }))
      .catch(() => null) // a killed service
    if (answer?.status === 200) return JSON.parse(answer.text) as ExecutionDetail
    if (answer !== null && answer.status < 500) throw new Error(`${answer.status} ${answer.text}`)
    await wait(AGAIN_MS)
  }
}

/** IDs of the nodes that a rerun runs again: those at or below `from`, or at or below a node without a result. */
export function nodesToRerun(
  { nodes, edges }: Graph,
  earlier: Pick<ExecutionRecord, 'nodes'>,
  from: string,
): Set<string> {
  const without = earlier.nodes.filter(({ status }) => status !== 'Succeeded' && status !== 'Skipped')
  const rerunNodes = new Set([from, ...without.map(({ id }) => id)])
  const nodeOf = (end: string) => end.slice(0, end.indexOf('.'))
  for (let size = 0; size !== rerunNodes.size;) {
    size = rerunNodes.size
    for (const { from: above, to } of edges) if (rerunNodes.has(nodeOf(above))) rerunNodes.add(nodeOf(to))
  }
  return new Set(nodes.map(({ id }) => id).filter((id) => rerunNodes.has(id)))
}
