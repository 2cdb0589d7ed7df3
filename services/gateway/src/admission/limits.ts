import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '@gateway/api/refusal'
import { callerAddress, markAuthenticated } from '@gateway/service-kit/http/connections'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { readCaller, readKey } from '../request/read-headers.ts'
import type { KeyGate } from './key-gate.ts'

// Limit on concurrent requests.
//   P1  At most `maxPermits` in total. One project can hold at most SHARE times the free permits, so the busier the
//       process, the fewer a project can hold. A busy project always leaves a permit for a project that holds none, and
//       projects that together want more than there are converge to equal shares.
//   P2  A permit is held until the work is done and the response is sent, even if the caller has disconnected.

export interface ConcurrencyLimiter {
  /** @throws Refusal `overloaded` */
  acquire(project: string): Permit
  count(): number
}

export interface Permit {
  /** Calls `giveBack` on release; immediately if already released. */
  onRelease(giveBack: () => void): void
  /** Idempotent. */
  release(): void
}

interface Options {
  maxPermits: number
  /** Maximum per project, regardless of load. */
  maxOfProject?: number | undefined
}

const SHARE = 4

export function openConcurrencyLimiter({ maxPermits, maxOfProject = maxPermits }: Options): ConcurrencyLimiter {
  const acquired = new Map<string, number>() // by project
  let total = 0

  function add(project: string, permits: 1 | -1): void {
    total += permits
    const sum = (acquired.get(project) ?? 0) + permits
    if (sum === 0) acquired.delete(project)
    else acquired.set(project, sum)
  }

  return {
    acquire(project) {
      const share = Math.min(maxOfProject, SHARE * (maxPermits - total)) // P1
      if ((acquired.get(project) ?? 0) >= share) throw refuse('overloaded', {})
      add(project, 1)
      let released = false
      const givesBack: (() => void)[] = []
      return {
        onRelease(giveBack) {
          if (released) giveBack()
          else givesBack.push(giveBack)
        },
        release() {
          if (released) return
          released = true
          for (const giveBack of givesBack) giveBack()
          add(project, -1)
        },
      }
    },
    count: () => total,
  }
}

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
  work: (keyHash: string, permit: Permit) => Promise<void>,
): Promise<void> {
  const keyHash = readKey(res.req)
  const { project } = await deps.keyGate.identify(keyHash, callerAddress(res.req))
  if (res.closed) return // the caller disconnected during the key lookup
  markAuthenticated(res.req.socket)
  const permit = deps.concurrencyLimiter.acquire(project)
  let reasonsToKeep = 2
  const done = () => {
    if (--reasonsToKeep === 0) permit.release()
  }
  res.once('close', done)
  try {
    await work(keyHash, permit)
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
  const { project } = await deps.keyGate.identify(keyHash, callerAddress(req))
  markAuthenticated(req.socket)
  const permit = deps.concurrencyLimiter.acquire(project)
  try {
    return await ask(readCaller(req, keyHash))
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
