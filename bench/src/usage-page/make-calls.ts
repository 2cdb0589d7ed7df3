import { mintId } from '@gateway/contracts/ids'
import type { Fixture } from '@gateway/testbed/fixture'

// Settled calls of a month, as rows: what rolling up and pages of usage read of the books, and nothing else of them.

export const CALLS = 1_000_000
/** The last of them are settled after the rest was rolled up. */
export const TAIL = 5_000
const PRODUCTS = 8
const KEYS = 20
const MONTH_S = 30 * 86_400
const PART = 100_000

export const TO = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
export const FROM = new Date(TO.getTime() - MONTH_S * 1_000)

/** Calls one after the other through the month; each has an entry for its reservation and one for its settlement. */
export async function makeCalls({ run }: Fixture, project: string, which: 'most' | 'tail'): Promise<void> {
  const [first, last] = which === 'most' ? [1, CALLS - TAIL] : [CALLS - TAIL + 1, CALLS]
  const prefix = mintId('inv', FROM.getTime(), new Uint8Array(10)).slice(0, 14)
  for (let at = first; at <= last; at += PART) {
    const values = [project, at, Math.min(at + PART - 1, last), prefix, FROM, (MONTH_S * 1_000) / CALLS]
    await run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, instance, reserved_micro,
         charged_micro, request_pico, prompt_tokens, completion_tokens, admitted_at, closed_at)
       SELECT i, i, 1, 'Settled', $1, 'key_' || n % ${KEYS}, 'key_' || n % ${KEYS}, 'acme/' || n % ${PRODUCTS}, 'ins', 7, 7,
              7000000, 100, 50, $5::timestamptz + n * $6 * interval '1 ms', $5::timestamptz + n * $6 * interval '1 ms'
         FROM (SELECT n, $4 || lpad(n::text, 16, '0') AS i FROM generate_series($2::int, $3::int) n) c`,
      values,
    )
    await run(
      `INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
       SELECT $1, 2 * n - (1 - settle), (ARRAY['reserve', 'settle'])[settle + 1], $4 || lpad(n::text, 16, '0'),
              -7 * (1 - settle), 7 - 14 * settle, 7 * settle, 0, $5::timestamptz + n * $6 * interval '1 ms'
         FROM generate_series($2::int, $3::int) n, generate_series(0, 1) settle`,
      values,
    )
  }
  await run(
    `INSERT INTO money.wallets (project, funded, settled, journal_seq) VALUES ($1, $2, $2, $3)
     ON CONFLICT (project) DO UPDATE SET funded = excluded.funded, settled = excluded.settled, journal_seq = excluded.journal_seq`,
    [project, 7 * last, 2 * last],
  )
  await run('VACUUM (ANALYZE) money.attempts, money.journal')
}
