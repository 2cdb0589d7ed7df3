import { createHash } from 'node:crypto'
import { z } from 'zod'

/** Every key is `{svc}:nodes:…`. The braces keep them on one node of a Redis Cluster. */
export const queueName = 'nodes'
export const defaultPrefix = '{svc}'

/**
 * Content of a job: execution, node, attempt and trace. Redis stores it as plain text, so it contains only ids and
 * nothing that a user wrote: that is why `tracestate` is dropped.
 */
const nodeJob = z.object({
  execution: z.string().regex(/^[\w-]{1,64}$/),
  node: z.string().min(1).max(128),
  /** Counted in Postgres; increases only when a lease is revoked. */
  attempt: z.int().min(0),
  /** W3C trace context. */
  trace: z.object({ traceparent: z.string().max(128) }).exactOptional(),
})

export type NodeJob = z.infer<typeof nodeJob>

/**
 * Parses a job and drops unknown fields.
 * @throws ZodError for a value that is not a job
 */
export function readNodeJob(data: unknown): NodeJob {
  return nodeJob.parse(data)
}

/**
 * Returns `n-<execution>-<16 hex digits of the node's SHA-256>-<attempt>`: the same for every enqueue of this attempt.
 * Contains no colon, which BullMQ reserves, and no text of the author, which can contain anything.
 */
export function jobIdOf({ execution, node, attempt }: Pick<NodeJob, 'execution' | 'node' | 'attempt'>): string {
  const hash = createHash('sha256').update(node).digest('hex').slice(0, 16)
  return `n-${execution}-${hash}-${attempt}`
}

/**
 * Why the signal of a job was aborted.
 * `lost`: its lock was lost (Redis was flushed, or the lock was not renewed in time), so another worker may run it too.
 * `stopping`: this worker stops; the job is returned to the queue once its run has ended.
 */
export class JobAborted extends Error {
  readonly reason: 'lost' | 'stopping'

  constructor(reason: JobAborted['reason']) {
    super(`the job was aborted: ${reason}`)
    this.reason = reason
  }
}
