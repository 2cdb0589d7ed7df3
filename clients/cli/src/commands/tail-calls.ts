import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import type { Given } from '../frame/command-row.ts'
import { printRows } from '../frame/print.ts'
import { callColumns } from './call-columns.ts'
import { collect } from './collect.ts'

const PAUSE_MS = 2_000
const PATIENCE_MS = 120_000

/**
 * Shows each call once, when it has ended; in order of admission within one poll. Continues while the service does not
 * respond for up to two minutes.
 */
export async function tailCalls(given: Given, { from, atMost }: { from: string; atMost: number }): Promise<void> {
  const { io, session } = given
  const params = await session.project()
  const api = await session.user()
  let shown = new Set<string>()
  let since = from
  const look = () =>
    collect(api.pages('/api/v2/tenants/{tenant}/projects/{project}/invocations', { params, query: { from: since } }))
  let answeredMs = io.now()
  for (let count = 0; ;) {
    const found = await look().catch((error: unknown) => {
      if (!isPassing(error) || io.now() - answeredMs > PATIENCE_MS) throw error
      return null
    })
    if (found === null) {
      io.progress('No response; retrying …')
      await io.wait(PAUSE_MS)
      continue
    }
    answeredMs = io.now()
    const calls = found.toReversed()
    const ended = calls.filter(({ id, state }) => state !== 'Open' && !shown.has(id)).slice(0, atMost - count)
    if (ended.length > 0) printRows(given, ended, callColumns)
    count += ended.length
    if (count >= atMost) return
    // The next poll starts at the oldest open call, or at the newest call.
    since = (calls.find(({ state }) => state === 'Open') ?? calls.at(-1))?.createdAt ?? since
    shown = new Set(calls.filter(({ id, state }) => state !== 'Open' || shown.has(id)).map(({ id }) => id))
    io.progress('Waiting for calls …')
    await io.wait(PAUSE_MS)
  }
}

/** Whether another poll may succeed; it waits as long as the service asks. */
function isPassing(error: unknown): boolean {
  const { worth, afterMs } =
    error instanceof ApiRefusal || error instanceof Unreachable ? error.again : { worth: false, afterMs: 0 }
  return worth && (afterMs ?? 0) < PAUSE_MS
}
