import { openWaiter, type Waiter } from '@gateway/service-kit/async/waiting'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { times } from '@gateway/api/limits'
import { refuse, Refusal } from '@gateway/api/refusal'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Admission, Running } from './admission.ts'

// Callers that wait for a running call ask the ledger again at each notification and each second. Every ask authorizes
// the caller again (rules §5.3).
//   J1  Callers that would get the same result share one asker, so a thousand repeats of a slow call ask the ledger as
//       often as one.
//   J2  All of them get the asker's result if it is a saved response or a refusal. An admission is for the asker only:
//       the first call failed or its instance died, and the others wait for the call that replaces it.
//   J3  If the ledger can't be reached, only the asker fails. Another joiner asks next.
//   J4  Each joiner leaves separately: when it disconnects or its time is over.

export interface RunningCalls {
  /**
   * Waits for the end of a running call.
   * @param same equal for callers that would get the same result
   * @throws Refusal `idempotency_in_progress` if the call outlasts the caller's wait
   * @throws ClientDisconnected
   */
  join(running: Running, same: string, ask: Ask, disconnected: AbortSignal): Promise<Admission>
}

type Ask = () => Promise<Admission | Running>

interface RunningCallsDeps {
  notifier: Pick<Notifier, 'subscribe'>
  /** Aborts when this process starts to stop. */
  stopping: AbortSignal
  /** Unix milliseconds. */
  now: () => number
}

interface Joiner {
  ask: Ask
  disconnected: AbortSignal
  untilMs: number
  resolve: (admission: Admission) => void
  reject: (error: unknown) => void
}

interface Group {
  joiners: Set<Joiner>
  waiter: Waiter
  /** Called when the last joiner leaves. A later caller opens a new group. */
  close: () => void
}

/** @param askEveryMs poll interval without notifications */
export function openRunningCalls(
  { notifier, stopping, now }: RunningCallsDeps,
  { askEveryMs = 1_000, joinMs = times.joinMs } = {},
): RunningCalls {
  const groups = new Map<string, Group>()

  function groupWith(joiner: Joiner, { invocation }: Running, name: string): Group {
    const existing = groups.get(name)
    if (existing !== undefined) {
      existing.joiners.add(joiner)
      return existing
    }
    const waiter = openWaiter([stopping])
    const unsubscribe = notifier.subscribe(invocation, waiter.wake)
    const close = () => {
      groups.delete(name)
      unsubscribe()
      waiter.close()
    }
    const group: Group = { joiners: new Set([joiner]), waiter, close }
    groups.set(name, group)
    waiter.wake() // the call may have ended in the meantime
    void waitTogether(group, invocation)
    return group
  }

  async function waitTogether(group: Group, invocation: string): Promise<void> {
    const { joiners, waiter } = group
    while (joiners.size > 0) {
      await waiter.next(askEveryMs)
      for (const joiner of joiners)
        if (joiner.disconnected.aborted) leave(group, joiner).reject(new ClientDisconnected())
      const [asker] = joiners
      if (asker !== undefined) await askFor(group, asker, invocation)
    }
  }

  async function askFor(group: Group, asker: Joiner, invocation: string): Promise<void> {
    const { joiners } = group
    try {
      const outcome = await asker.ask()
      if (outcome.kind === 'replay') for (const joiner of joiners) leave(group, joiner).resolve(outcome)
      else if (outcome.kind === 'admitted') leave(group, asker).resolve(outcome) // J2
      else refuseLate(group, invocation)
    } catch (error) {
      const informed = error instanceof Refusal ? [...joiners] : [asker] // J2, J3
      for (const joiner of informed) leave(group, joiner).reject(error)
    }
  }

  /** J4 */
  function refuseLate(group: Group, invocation: string): void {
    const nowMs = now()
    for (const joiner of group.joiners)
      if (stopping.aborted || nowMs >= joiner.untilMs) leave(group, joiner).reject(stillRunning(invocation))
  }

  function leave({ joiners, waiter, close }: Group, joiner: Joiner): Joiner {
    joiners.delete(joiner)
    joiner.disconnected.removeEventListener('abort', waiter.wake)
    if (joiners.size === 0) close()
    return joiner
  }

  return {
    join: (running, same, ask, disconnected) =>
      new Promise((resolve, reject) => {
        const joiner = { ask, disconnected, untilMs: now() + joinMs, resolve, reject }
        const { waiter } = groupWith(joiner, running, `${running.invocation} ${same}`)
        disconnected.addEventListener('abort', waiter.wake)
        if (disconnected.aborted) waiter.wake()
      }),
  }
}

function stillRunning(invocation: string): Refusal {
  return refuse('idempotency_in_progress', {}, { headers: { 'X-Service-Invocation': invocation } })
}
