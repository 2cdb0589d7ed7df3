import type { Fixture } from '@gateway/testbed/fixture'

// A ledger of a given size, created by SQL: settled calls as the ledger would have written them, in past months.
// Journal, seals, wallets and checkpoints agree: a check from the first entry finds no problem, and the next round
// starts where these end, as it does if the checker kept up.

/** Reservation and charge of each call, in micro-USD. */
const RESERVED = 100
const CHARGED = 40
const PROMPT_TOKENS = 20
const COMPLETION_TOKENS = 20
/** Calls per statement. */
const PART = 100_000
/** Entries of the journal under one seal: two per call. */
const BLOCK = 500
const MONTHS = 12

export interface GrownProject {
  id: string
  key: string
  lineage: string
}

export interface Growth {
  /** Half of all calls are for the first one. */
  projects: GrownProject[]
  model: string
  instance: string
  /** Calls that exist already. */
  calls: number
  /** End of the newest month with calls, in Unix milliseconds. */
  endMs: number
}

/** Adds calls until there are this many, evenly over the last twelve complete months. */
export async function growTo(fixture: Fixture, growth: Growth, calls: number, log: (line: string) => void) {
  await makePartitions(fixture, growth.endMs)
  await fixture.run(FUNCTIONS)
  const startMs = monthsBefore(growth.endMs, MONTHS)
  const stepMs = (growth.endMs - startMs) / (calls - growth.calls)
  for (let done = growth.calls, n = 0; done < calls; n++) {
    const part = Math.min(PART, calls - done)
    const { id, key, lineage } = growth.projects[n % 2 === 0 ? 0 : 1 + ((n >> 1) % (growth.projects.length - 1))]!
    const values = [id, key, lineage, growth.model, growth.instance, done, part]
    await fixture.run('SELECT pg_temp.add_calls($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ...values,
      startMs + (done - growth.calls) * stepMs,
      stepMs,
    ])
    done += part
    if (done % (20 * PART) === 0) log(`  ${done.toLocaleString('en-US')} calls`)
  }
  growth.calls = calls
  await fixture.run(CHECKPOINTS)
  await fixture.run('VACUUM (ANALYZE) money.attempts')
  await fixture.run('VACUUM (ANALYZE) money.journal')
  await fixture.run('ANALYZE')
  await fixture.run('CHECKPOINT')
}

/** Start of the month that is this many months before the one starting then. */
function monthsBefore(ms: number, months: number): number {
  const moment = new Date(ms)
  return moment.setUTCMonth(moment.getUTCMonth() - months)
}

/** Creates the partitions of the twelve months before the one starting then. A new database has none of the past. */
export async function makePartitions(fixture: Fixture, endMs: number): Promise<void> {
  for (let month = MONTHS; month > 0; month--) {
    const [fromMs, toMs] = [monthsBefore(endMs, month), monthsBefore(endMs, month - 1)]
    const at = (ms: number) => `'${new Date(ms).toISOString()}'`
    const id = (ms: number) => `money.id_bound('inv', ${at(ms)}::timestamptz)`
    for (const [table, bound] of [
      ['attempts', id],
      ['journal', at],
      ['journal_blocks', at],
    ] as const) {
      const name = `${table}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`
      await fixture.run(`DO $$ BEGIN
        IF to_regclass('money.${name}') IS NULL THEN
          EXECUTE format('CREATE TABLE money.${name} PARTITION OF money.${table} FOR VALUES FROM (%L) TO (%L)',
                         ${bound(fromMs)}, ${bound(toMs)});
        END IF;
      END $$`)
    }
  }
}

/** Marks every wallet as checked up to its newest entry. */
export const CHECKPOINTS = `
INSERT INTO money.checked_wallets (project, seq, at, funded, reserved, settled, seal, checked_at)
SELECT w.project, w.journal_seq, (SELECT max(b.at) FROM money.journal_blocks b WHERE b.project = w.project),
       w.funded, w.reserved, w.settled, w.seal, now()
  FROM money.wallets w WHERE w.journal_seq > 0 AND w.reserved = 0
ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, at = excluded.at, funded = excluded.funded,
  reserved = excluded.reserved, settled = excluded.settled, seal = excluded.seal, checked_at = excluded.checked_at`

/** The calls of one project, in sequence. Two entries per call, and a seal per block. */
const FUNCTIONS = `
CREATE OR REPLACE FUNCTION pg_temp.id_of(at timestamptz, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(money.id_bound('inv', at), 14) || lpad(to_hex(n), 16, '0')
$$;
CREATE OR REPLACE FUNCTION pg_temp.add_calls(
  of_project text, of_key text, of_lineage text, model text, of_instance text,
  first_n bigint, calls integer, start_ms float8, step_ms float8
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  w money.wallets;
  last_seal bytea;
  of_block record;
BEGIN
  SELECT * INTO w FROM money.wallets WHERE project = of_project FOR UPDATE;
  CREATE TEMP TABLE call ON COMMIT DROP AS
    SELECT n, to_timestamp((start_ms + n * step_ms) / 1000)::timestamptz(3) AS at,
           pg_temp.id_of(to_timestamp((start_ms + n * step_ms) / 1000), first_n + n) AS id
      FROM generate_series(0, calls - 1) n;
  INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, instance, reserved_micro,
                              charged_micro, prompt_pico, completion_pico, prompt_tokens, completion_tokens, admitted_at, closed_at)
  SELECT id, id, 1, 'Settled', of_project, of_key, of_lineage, model, of_instance, ${RESERVED}, ${CHARGED},
         1000000, 1000000, ${PROMPT_TOKENS}, ${COMPLETION_TOKENS}, at, at FROM call;
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  SELECT of_project, w.journal_seq + 2 * n + 1, 'reserve', id, -${RESERVED}, ${RESERVED}, 0, 0, at FROM call
   UNION ALL
  SELECT of_project, w.journal_seq + 2 * n + 2, 'settle', id, ${RESERVED - CHARGED}, -${RESERVED}, ${CHARGED}, 0, at FROM call;
  last_seal := w.seal;
  FOR of_block IN
    SELECT n / ${BLOCK / 2} AS block, max(at) AS at, max(w.journal_seq + 2 * n + 2) AS last_seq,
           string_agg((w.journal_seq + 2 * n + 1) || ' reserve ' || id || ' ${RESERVED} 0 0' || E'\\n' ||
                      (w.journal_seq + 2 * n + 2) || ' settle ' || id || ' -${RESERVED} ${CHARGED} 0', E'\\n' ORDER BY n) AS text
      FROM call GROUP BY 1 ORDER BY 1
  LOOP
    last_seal := sha256(last_seal || convert_to(of_block.text, 'UTF8'));
    INSERT INTO money.journal_blocks (project, last_seq, seal, at) VALUES (of_project, of_block.last_seq, last_seal, of_block.at);
  END LOOP;
  UPDATE money.wallets SET settled = settled + calls * ${CHARGED}, journal_seq = journal_seq + 2 * calls, seal = last_seal
   WHERE project = of_project;
END $$;`
