import { createHash } from 'node:crypto'
import { z } from 'zod'

/** Every key is `{svc}:nodes:…`. The braces keep them on one node of a Redis Cluster. */
export const queueName = 'nodes'
export const defaultPrefix = '{svc}'

/**
 * What a job says: which node of which execution, which attempt at it, and the trace it belongs to. Redis keeps it as clear
 * text, so there are ids in it and nothing that someone wrote.
 */
const nodeJob = z.object({
  execution: z.string().regex(/^[\w-]{1,64}$/),
  node: z.string().min(1).max(128),
  /** Counted in Postgres; rises only when a lease is taken back. */
  attempt: z.int().min(0),
  /** W3C trace context. */
  trace: z
    .object({ traceparent: z.string().max(128), tracestate: z.string().max(512).exactOptional() })
    .exactOptional(),
})

export type NodeJob = z.infer<typeof nodeJob>

/**
 * Keeps what a job may say and drops the rest.
 * @throws ZodError for what is not a job
 */
export function readNodeJob(data: unknown): NodeJob {
  return nodeJob.parse(data)
}

/**
 * `n-<execution>-<16 hex of the node's SHA-256>-<attempt>`: the same for anyone who enqueues this attempt. No colon, which
 * BullMQ reserves, and none of the author's text, which may hold anything.
 */
export function jobIdOf({ execution, node, attempt }: Pick<NodeJob, 'execution' | 'node' | 'attempt'>): string {
  const hash = createHash('sha256').update(node).digest('hex').slice(0, 16)
  return `n-${execution}-${hash}-${attempt}`
}

/**
 * Why a job's signal was aborted.
 * `lost`: its lock is lost (Redis was flushed, or did not hear from this process in time), so another worker may run it too.
 * `stopping`: this worker ends; the job is handed back once the work on it has ended.
 */
export class JobAborted extends Error {
  readonly reason: 'lost' | 'stopping'

  constructor(reason: JobAborted['reason']) {
    super(`the job was aborted: ${reason}`)
    this.reason = reason
  }
}
