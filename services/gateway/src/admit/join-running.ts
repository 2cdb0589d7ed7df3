import { refuse } from '@gateway/contracts/refusal'
import { times } from '@gateway/contracts/limits'
import type { Notifier } from '@gateway/notifier/notifier'
import { CallerGone } from '../receive/caller-gone.ts'
import type { Entrance, Running } from './admit-call.ts'

/** Waits for the end of a running call by asking again; each time all is authorised anew (decisions.md, 4). */
export type JoinRunning = (
  running: Running,
  ask: () => Promise<Entrance | Running>,
  gone: AbortSignal,
) => Promise<Entrance>

interface Deps {
  notifier: Pick<Notifier, 'subscribe'>
  /** Aborted when this process begins to stop. */
  stopping: AbortSignal
  now: () => number
  /** How often to ask where no notifier rings, and how long in all. Milliseconds. */
  askEveryMs?: number
  joinMs?: number
}

/**
 * Asks at each ring of the notifier and each second. Where the first call failed or its instance died, one joiner is admitted in
 * its place; the ledger sees to it that it is one.
 * @throws Refusal `idempotency_in_progress` when the first call takes longer than 60 s
 * @throws CallerGone
 */
export function runningJoiner({
  notifier,
  stopping,
  now,
  askEveryMs = 1_000,
  joinMs = times.joinMs,
}: Deps): JoinRunning {
  return async (running, ask, gone) => {
    const untilMs = now() + joinMs
    const waiting = openWait(askEveryMs)
    const unlisten = notifier.subscribe(running.invocation, waiting.wake)
    waiting.wake() // it may have ended since it was seen
    gone.addEventListener('abort', waiting.wake)
    stopping.addEventListener('abort', waiting.wake)
    try {
      for (;;) {
        await waiting.next()
        if (gone.aborted) throw new CallerGone()
        const outcome = await ask()
        if (outcome.kind !== 'running') return outcome
        if (stopping.aborted || now() >= untilMs) throw stillRunning(running)
      }
    } finally {
      unlisten()
      gone.removeEventListener('abort', waiting.wake)
      stopping.removeEventListener('abort', waiting.wake)
    }
  }
}

function stillRunning({ invocation }: Running) {
  const headers = { 'X-Service-Invocation': invocation }
  return refuse('idempotency_in_progress', {}, { headers })
}

/** A wait that ends when it is woken or its time is over. A wake that comes while nobody waits ends the next wait at once. */
function openWait(everyMs: number): { wake: () => void; next: () => Promise<void> } {
  let woken = false
  let end: (() => void) | null = null
  return {
    wake() {
      woken = true
      end?.()
    },
    async next() {
      if (!woken) {
        const timer = setTimeout(() => end?.(), everyMs)
        await new Promise<void>((resolve) => (end = resolve))
        clearTimeout(timer)
        end = null
      }
      woken = false
    },
  }
}
