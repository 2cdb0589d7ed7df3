import { expect } from 'vitest'
import { isLedgerRefusalCode } from '@gateway/contracts/ledger-refusal'
import { openFixture } from '@gateway/testbed/fixture'
import { liveTest } from '@gateway/testbed/live-test'

// What decides in SQL names its refusals there, where no compiler sees them.

/** What an admission may be besides admitted or refused; outcome-of-row.ts has a case for each. */
const OTHERS = ['again', 'closed', 'copy', 'deferred', 'fenced', 'instance_unknown', 'replay', 'running']
/** Where the codes of admissions and starts come from. Each decides in a CASE, or sets `code_of`. */
const SOURCES = `
  SELECT proname::text AS name, prosrc AS text FROM pg_proc
   WHERE pronamespace = 'money'::regnamespace AND proname ~ '^(key_refusal|execution_pairs|admit|run_batch|read_starts)'
  UNION ALL
  SELECT viewname::text, definition FROM pg_views WHERE schemaname = 'money' AND viewname IN ('callers', 'execution_callers')`

liveTest('each code that SQL answers has a case [key_revoked] [key_limit]', async ({ database }) => {
  const fixture = await openFixture(database.adminUrl)
  const { rows } = await fixture.run(SOURCES, [])
  await fixture.close()
  const codes = new Set(
    (rows as { text: string }[]).flatMap(({ text }) =>
      [...text.matchAll(/(?:THEN|:=)\s+'([a-z]+(?:_[a-z]+)*)'/g)].map(([, code]) => code!),
    ),
  )
  for (const seen of ['key_revoked', 'not_permitted', 'context_limit', 'key_limit', 'deferred', 'fenced'])
    expect(codes).toContain(seen)
  expect([...codes].filter((code) => !isLedgerRefusalCode(code) && !OTHERS.includes(code))).toEqual([])
})
