import type { Fixture } from '@gateway/testbed/fixture'

// Settled calls of a month, as rows: only what rollups and usage pages read. A call takes 0.2 to 20 seconds, most of them
// one or two, and its first token comes after a fifth of that.

export const CALLS = 1_000_000
/** The last calls, settled after the others were rolled up. */
export const TAIL = 5_000
const PRODUCTS = 8
const KEYS = 20
const MONTH_MS = 30 * 86_400_000
const PART = 100_000

export const TO = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
export const FROM = new Date(TO.getTime() - MONTH_MS)

/** This many calls in sequence through the month: their numbers, times and ids. */
const CALL = `
  SELECT n, at, money.id_bound('inv', at) || lpad(n::text, 16, '0') AS id,
         exp(7.3 + 1.5 * (random() + random() + random() - 1.5))::integer AS ms
    FROM (SELECT n, $1::timestamptz + n * $2::float8 * interval '1 ms' AS at FROM generate_series($3::int, $4::int) n) c`

/** Each call has one entry for its reservation and one for its settlement. */
export async function makeCalls({ run }: Fixture, project: string, which: 'most' | 'tail'): Promise<void> {
  const [first, last] = which === 'most' ? [1, CALLS - TAIL] : [CALLS - TAIL + 1, CALLS]
  for (let at = first; at <= last; at += PART) {
    const values = [FROM, MONTH_MS / CALLS, at, Math.min(at + PART - 1, last), project]
    await run(
      `WITH call AS MATERIALIZED (${CALL}),
       entry AS (
         INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
         SELECT $5, 2 * n - 1 + settle, (ARRAY['reserve', 'settle'])[settle + 1], id,
                7 * (settle - 1), 7 - 14 * settle, 7 * settle, 0, at
           FROM call, generate_series(0, 1) settle)
       INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, instance, reserved_micro,
         charged_micro, request_pico, prompt_tokens, completion_tokens, admitted_at, closed_at, first_token_ms)
       SELECT id, id, 1, 'Settled', $5, 'key_' || n % ${KEYS}, 'key_' || n % ${KEYS}, 'acme/' || n / 3 % ${PRODUCTS}, 'ins',
              7, 7, 7000000, 100, 50, at, at + ms * interval '1 ms', ms / 5
         FROM call`,
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
