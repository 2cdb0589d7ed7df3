import type { NodeJob } from '@gateway/node-queue/node-job'

/** A node to be enqueued, as money.ring_nodes_v1 answers it. */
export type RungNode = [
  execution: string,
  node: string,
  attempt: number,
  traceparent: string | null,
  tracestate: string | null,
]

export function jobsOf(rung: readonly RungNode[]): NodeJob[] {
  return rung.map(([execution, node, attempt, traceparent, tracestate]) => ({
    execution,
    node,
    attempt,
    ...(traceparent !== null && { trace: { traceparent, ...(tracestate !== null && { tracestate }) } }),
  }))
}
