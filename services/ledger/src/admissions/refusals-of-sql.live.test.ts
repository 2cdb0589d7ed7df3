import { expect } from 'vitest'
import { readCheck } from '@gateway/api/admission-check'
import { composeCheck } from '@gateway/ledger-protocol/compose-check'
import { isLedgerRefusalCode, type LedgerRefusal } from '@gateway/ledger-protocol/ledger-refusal'
import { openFixture } from '@gateway/testbed/fixture'
import { liveTest } from '@gateway/testbed/live-test'

// SQL functions name refusal codes that no compiler checks.

/** Outcomes of an admission other than admitted and refused; run-batch.ts has a case for each. */
const OTHERS = ['again', 'closed', 'copy', 'deferred', 'fenced', 'instance_unknown', 'replay', 'running', 'would_admit']
/** The functions and views that decide admissions and starts. Each does so in a CASE, or sets `code_of`. */
const SOURCES = `
  SELECT proname::text AS name, prosrc AS text FROM pg_proc
   WHERE pronamespace = 'money'::regnamespace AND proname ~ '^(key_refusal|execution_pairs|admit|run_batch|read_starts)'
  UNION ALL
  SELECT viewname::text, definition FROM pg_views WHERE schemaname = 'money' AND viewname IN ('callers', 'execution_callers')`

/** Returns the codes in the sources whose name matches `names`. */
async function codesIn(adminUrl: string, names: RegExp): Promise<string[]> {
  const fixture = await openFixture(adminUrl)
  const { rows } = await fixture.run(SOURCES, [])
  await fixture.close()
  const texts = (rows as { name: string; text: string }[]).flatMap(({ name, text }) => (names.test(name) ? [text] : []))
  const codes = texts.flatMap((text) =>
    [...text.matchAll(/(?:THEN|:=)\s+'([a-z]+(?:_[a-z]+)*)'/g)].map(([, code]) => code!),
  )
  return [...new Set(codes)]
}

liveTest('every code that SQL returns is handled [key_revoked] [key_limit]', async ({ database }) => {
  const codes = await codesIn(database.adminUrl, /./)
  for (const seen of ['key_revoked', 'not_permitted', 'context_limit', 'key_limit', 'deferred', 'fenced'])
    expect(codes).toContain(seen)
  expect(codes.filter((code) => !isLedgerRefusalCode(code) && !OTHERS.includes(code))).toEqual([])
})

liveTest('every code that refuses a direct call fails a rule of the admission check', async ({ database }) => {
  const codes = await codesIn(database.adminUrl, /^(key_refusal|admit)/)
  expect(codes).toContain('key_limit')
  const check = readCheck({ model: 'acme/swift' })
  for (const code of codes) {
    // A check has no idempotency key, and a direct call has no ceiling.
    if (OTHERS.includes(code) || ['idempotency_mismatch', 'ceiling_reached'].includes(code)) continue
    const checked = { refusal: { code, facts: {} } as LedgerRefusal, boundMicro: null, outputCap: null }
    expect(composeCheck(check, checked).rules).toContainEqual({ rule: expect.any(String), outcome: 'fail' })
  }
})
