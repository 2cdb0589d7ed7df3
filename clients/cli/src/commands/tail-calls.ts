import type { Given } from '../frame/command-row.ts'
import { printRows } from '../frame/print.ts'
import { callColumns } from './call-columns.ts'
import { collect } from './collect.ts'

const PAUSE_MS = 2_000

/** Shows each call once, when it has ended; in the order of their admission as far as one look sees them. */
export async function tailCalls(given: Given, { from, atMost }: { from: string; atMost: number }): Promise<void> {
  const { io, session } = given
  const params = await session.project()
  const api = await session.person()
  let shown = new Set<string>()
  let since = from
  for (let count = 0; ;) {
    const pages = api.pages('/api/v2/tenants/{tenant}/projects/{project}/invocations', {
      params,
      query: { from: since },
    })
    const calls = (await collect(pages)).toReversed()
    const ended = calls.filter(({ id, state }) => state !== 'Open' && !shown.has(id)).slice(0, atMost - count)
    if (ended.length > 0) printRows(given, ended, callColumns)
    count += ended.length
    if (count >= atMost) return
    // The next look begins with the oldest call that is open, or with the newest one.
    since = (calls.find(({ state }) => state === 'Open') ?? calls.at(-1))?.createdAt ?? since
    shown = new Set(calls.filter(({ id, state }) => state !== 'Open' || shown.has(id)).map(({ id }) => id))
    io.progress('Waiting for calls …')
    await io.wait(PAUSE_MS)
  }
}
