import { median } from '../load/figures.ts'
import { ms, table, times } from '../report/table.ts'
import type { Growth } from './grow-books.ts'
import type { Around } from './grow-around.ts'

// Reads by users of a project's data, on a small and a large ledger: each page should cost the same at any number of
// pages.

const ASKED = 21
const MONTH_MS = 30 * 86_400_000

/** Each read with its path below the tenant's. */
function questionsTo(growth: Growth, { owner, sandbox }: Around): Record<string, string> {
  const { id, key } = growth.projects[0]!
  const iso = (at: number) => new Date(at).toISOString()
  const month = `from=${iso(growth.endMs - MONTH_MS)}&to=${iso(growth.endMs)}`
  const lately = `from=${iso(Date.now() - MONTH_MS)}&to=${iso(Date.now())}`
  const day = (at: number) => iso(at).slice(0, 10)
  const project = `projects/${id}`
  return {
    'the statement of a month': `${project}/statement?month=${day(growth.endMs - 1).slice(0, 7)}`,
    'the statement of a year': `${project}/statement?from=${day(growth.endMs - 12 * MONTH_MS)}&to=${day(growth.endMs)}`,
    'a page of fundings': `${project}/fundings?limit=50`,
    'a page of the journal': `${project}/journal?limit=50`,
    'usage of a month, by model and hour of Berlin': `${project}/usage?by=model&step=hour&zone=Europe/Berlin&${month}`,
    'usage of a month, by key and day of Kolkata': `${project}/usage?by=key&step=day&zone=Asia/Kolkata&${month}`,
    'calls of a key in a month': `${project}/invocations?limit=50&key=${key}&${month}`,
    'calls of a model that were settled': `${project}/invocations?limit=50&model=${encodeURIComponent(growth.model)}&state=Settled`,
    'calls of a model that there is none of': `${project}/invocations?limit=50&model=none`,
    'executions of a product': `sandboxes/${sandbox}/executions?limit=50`,
    'executions that failed': `sandboxes/${sandbox}/executions?limit=50&state=Failed`,
    'executions of a revision in a month': `sandboxes/${sandbox}/executions?limit=50&revision=3&${lately}`,
    'executions of a project': `${project}/executions?limit=50`,
    'executions of a project that failed': `${project}/executions?limit=50&state=Failed`,
    'executions of a project in progress': `${project}/executions?limit=50&state=Running`,
    'refusals of a day, by code': `${project}/refusals?by=code`,
    'the last refusals': `${project}/refusals/recent`,
    'the audit': `audit?limit=50`,
    'the audit of a user in a month': `audit?limit=50&user=${owner}&${lately}`,
    'the audit of an action': `audit?limit=50&action=key.create`,
    'the audit of a key': `audit?limit=50&subject=key_1`,
    'keys with their windows': `keys?limit=50&project=${id}&state=Active`,
  }
}

/** Milliseconds of each read, as a median. `get` requests a path below the tenant's from the console. */
export async function measureReads(
  growth: Growth,
  around: Around,
  get: (path: string) => Promise<void>,
): Promise<Record<string, number>> {
  const measured: Record<string, number> = {}
  for (const [question, path] of Object.entries(questionsTo(growth, around))) {
    const tookMs: number[] = []
    for (let n = 0; n < ASKED; n++) {
      const startMs = performance.now()
      await get(path)
      tookMs.push(performance.now() - startMs)
    }
    measured[question] = median(tookMs)
  }
  return measured
}

/** Compares the largest ledger with the smallest that has calls, if there are two: an empty one has nothing to read. */
export function reportReads(sizes: string[], measured: Record<string, number>[]): string {
  const first = measured.length > 2 ? 1 : 0
  const [small, large] = [measured[first]!, measured.at(-1)!]
  return table(
    ['what users read, by calls in the books', ...sizes, `most to ${sizes[first]!}`],
    Object.keys(large).map((question) => [
      question,
      ...measured.map((each) => ms(each[question]!)),
      times(large[question]! / small[question]!),
    ]),
  )
}
