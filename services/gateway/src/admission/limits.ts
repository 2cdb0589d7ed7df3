import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal, refuse } from '@gateway/api/refusal'
import { type ConcurrencyLimiter, openConcurrencyLimiter, type Permit } from '@gateway/service-kit/http/caller-permits'
import { countedAddress, markAuthenticated } from '@gateway/service-kit/http/connections'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { readCaller, readKey } from '../request/read-headers.ts'
import type { KeyGate } from './key-gate.ts'

type PermitNeeded = { keyGate: Pick<KeyGate, 'identify'>; concurrencyLimiter: Pick<ConcurrencyLimiter, 'acquire'> }

/**
 * Runs the work of a request under a permit of its project. If the key doesn't exist or no permit is free, the request
 * is refused before a byte of its body is read. The permit is held until the work is done and the response is sent or
 * the caller has disconnected (rules §3.8).
 * @throws Refusal as `readKey` and `KeyGate.identify`, or `overloaded`
 */
export async function withPermit(
  deps: PermitNeeded,
  res: ServerResponse,
  work: (keyHash: string, permit: Permit, project: string) => Promise<void>,
): Promise<void> {
  const keyHash = readKey(res.req)
  const { project } = await deps.keyGate.identify(keyHash, countedAddress(res.req))
  if (res.closed) return // the caller disconnected during the key lookup
  markAuthenticated(res.req.socket)
  const permit = deps.concurrencyLimiter.acquire(project)
  let reasonsToKeep = 2
  const done = () => {
    if (--reasonsToKeep === 0) permit.release()
  }
  res.once('close', done)
  try {
    await work(keyHash, permit, project)
  } finally {
    done()
  }
}

/**
 * Asks the ledger under a permit of the key's project. The response is small, so the permit is released before it is
 * sent.
 * @throws Refusal as `withPermit`
 */
export async function askWithPermit<Answer>(
  deps: PermitNeeded,
  req: IncomingMessage,
  ask: (caller: CallerQuestion) => Promise<Answer>,
): Promise<Answer> {
  const keyHash = readKey(req)
  const { project } = await deps.keyGate.identify(keyHash, countedAddress(req))
  markAuthenticated(req.socket)
  const permit = deps.concurrencyLimiter.acquire(project)
  try {
    return await ask(readCaller(req, keyHash))
  } finally {
    permit.release()
  }
}

// Limit on followers: requests that get the progress of an execution, and take as long as it does. Each holds a permit
// of its project too. Some keys of a project could otherwise take all of its permits for a long time.

export interface FollowerLimiter {
  /** @throws Refusal `overloaded` */
  acquire(key: FollowingKey): Permit
  count(): number
}

interface FollowingKey {
  keyHash: string
  project: string
}

/**
 * @param maxPermits for all keys together
 * @param maxOfKeyIn of each key of a project, by project, instead of `maxOfKey`
 */
export function openFollowerLimiter(
  maxPermits: number,
  maxOfKey: number,
  maxOfKeyIn: Record<string, number>,
): FollowerLimiter {
  const { acquire, count } = openConcurrencyLimiter({
    maxPermits,
    whenFull: (hasMaximum, maximum) => (hasMaximum ? followsTooMany(maximum) : refuse('overloaded', {})),
  })
  return { acquire: ({ keyHash, project }) => acquire(keyHash, maxOfKeyIn[project] ?? maxOfKey), count }
}

function followsTooMany(maxOfKey: number): Refusal {
  return new Refusal(
    'overloaded',
    `This key follows the progress of ${maxOfKey} executions, as many as it may follow.`,
    'Wait until one of them has ended, or close the request that follows it, then send this request again. Reading an execution at GET /v1/executions/{id} does not count.',
  )
}

/**
 * Runs work as a follower.
 * @throws Refusal `overloaded`, before anything is asked
 */
export async function asFollower<T>(
  { followerLimiter }: { followerLimiter: Pick<FollowerLimiter, 'acquire'> },
  key: FollowingKey,
  work: () => Promise<T>,
): Promise<T> {
  const permit = followerLimiter.acquire(key)
  try {
    return await work()
  } finally {
    permit.release()
  }
}

// Limit on calls waiting for the ledger's decision. They wait for processors and disks, not for a model, so a long
// queue only makes every call in it late. While `maxWaiting` calls wait, the next one is refused.

export interface AdmissionQueueLimit {
  /**
   * @throws Refusal `overloaded` if the queue is full. Checked before a call is read, and again before the ledger is
   * asked.
   */
  refuseIfFull(): void
  /** Counts the work as waiting while it runs. */
  during<T>(work: () => Promise<T>): Promise<T>
}

export function openAdmissionQueueLimit(maxWaiting: number): AdmissionQueueLimit {
  let waiting = 0
  return {
    refuseIfFull() {
      if (waiting >= maxWaiting) throw refuse('overloaded', {})
    },
    async during(work) {
      waiting++
      try {
        return await work()
      } finally {
        waiting--
      }
    },
  }
}

/** Abort reason of a running call whose drain time ended because the process is stopping. */
export class ProcessStopping extends Error {
  constructor() {
    super('the process is stopping')
  }
}

/**
 * Work in progress: calls, including those whose caller has disconnected, and settlements that outlast their call.
 */
export interface OpenCalls {
  /** Runs a call and counts it as open. */
  run(call: () => Promise<void>): Promise<void>
  /** Tracks work that continues after the response of its call. */
  track<T>(work: Promise<T>): Promise<T>
  /** Aborts with `ProcessStopping` when running calls must end now. */
  cancellation: AbortSignal
  /** Number of open calls, without work that is only tracked. */
  count(): number
  /** Waits until all work has ended. */
  idle(): Promise<void>
}

interface OpenCallsOptions {
  /** Aborts when this process starts to stop. Calls then have `finishMs` to finish. */
  stopping: AbortSignal
  finishMs: number
}

export function trackOpenCalls({ stopping, finishMs }: OpenCallsOptions): OpenCalls {
  const underWay = new Set<Promise<unknown>>()
  const cancellation = new AbortController()
  let calls = 0
  stopping.addEventListener(
    'abort',
    () => void setTimeout(() => cancellation.abort(new ProcessStopping()), finishMs).unref(),
  )

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  return {
    async run(call) {
      calls++
      try {
        await track(call())
      } finally {
        calls--
      }
    },
    track,
    cancellation: cancellation.signal,
    count: () => calls,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}
