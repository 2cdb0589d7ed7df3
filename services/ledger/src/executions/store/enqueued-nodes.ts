import type { NodeJob } from '@gateway/node-queue/node-job'

/** A node to be enqueued, as money.enqueue_ready_nodes answers it. */
export type EnqueuedNode = [
  execution: string,
  node: string,
  attempt: number,
  traceparent: string | null,
  tracestate: string | null,
]

export function jobsOf(nodes: readonly EnqueuedNode[]): NodeJob[] {
  return nodes.map(([execution, node, attempt, traceparent, tracestate]) => ({
    execution,
    node,
    attempt,
    ...(traceparent !== null && { trace: { traceparent, ...(tracestate !== null && { tracestate }) } }),
  }))
}
