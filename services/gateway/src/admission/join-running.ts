import { openWaiter } from '@gateway/async/waiter'
import { refuse } from '@gateway/contracts/refusal'
import { times } from '@gateway/contracts/limits'
import { ClientDisconnected } from '@gateway/http/client-disconnected'
import type { Deps } from '../deps.ts'
import type { Admission, Running } from './admission.ts'

/**
 * Waits for the end of a running call by asking for it again, at each notification and each second; each time all is
 * authorised anew (rules §5.3). Where the first call failed or its instance died, one of those who wait is
 * admitted in its place; the ledger sees to it that it is only one.
 * @param askEveryMs how often to ask where no notification comes
 * @throws Refusal `idempotency_in_progress` when the first call takes longer than `joinMs`
 * @throws ClientDisconnected
 */
export async function joinRunning(
  { notifier, stopping, now }: Pick<Deps, 'notifier' | 'stopping' | 'now'>,
  running: Running,
  ask: () => Promise<Admission | Running>,
  disconnected: AbortSignal,
  { askEveryMs = 1_000, joinMs = times.joinMs } = {},
): Promise<Admission> {
  const untilMs = now() + joinMs
  const waiter = openWaiter([disconnected, stopping])
  const unsubscribe = notifier.subscribe(running.invocation, waiter.wake)
  waiter.wake() // it may have ended since it was seen
  try {
    for (;;) {
      await waiter.next(askEveryMs)
      if (disconnected.aborted) throw new ClientDisconnected()
      const outcome = await ask()
      if (outcome.kind !== 'running') return outcome
      if (stopping.aborted || now() >= untilMs) throw stillRunning(running)
    }
  } finally {
    unsubscribe()
    waiter.close()
  }
}

function stillRunning({ invocation }: Running) {
  const headers = { 'X-Service-Invocation': invocation }
  return refuse('idempotency_in_progress', {}, { headers })
}
