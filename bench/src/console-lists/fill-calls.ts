import { refuse } from '@gateway/api/refusal'
import type { Fixture } from '@gateway/testbed/fixture'
import { CHECKPOINTS, makePartitions } from '../growth/grow-books.ts'
import { CALLS_AN_EXECUTION, idSql, type Size } from './size.ts'

// The calls of the project in 30 days, and a few of each other project, as the ledger stores them once they have ended.
// The ledger's own roll-up then sums them. Keys are uneven: the first one of 2,000 has 2 % of the calls. One call of
// twenty is made by an execution that a user started, five by each. Blocks of the journal are not sealed.

const DAY_MS = 86_400_000
const DAYS = 30
const RESERVED = 5_000
/** Micro-USD: more than any project spends. */
const FUNDS = 10n ** 12n
/** Calls per statement. */
const PART = 100_000
const CALLS_OF_OTHERS = 3

export interface FilledProject {
  id: string
  products: string[]
  /** End of the 30 days. */
  toMs: number
}

/** SQL of the time and id of call n, and of the start and id of execution n. */
export function callSql({ calls }: Size, { toMs }: Pick<FilledProject, 'toMs'>) {
  const from = new Date(toMs - DAYS * DAY_MS).toISOString()
  const at = (n: string) => `('${from}'::timestamptz + (${n}) * interval '${(DAYS * DAY_MS) / calls} ms')`
  const padded = (n: string) => `lpad((${n})::text, 16, '0')`
  const callId = (n: string) => `(money.id_bound('inv', ${at(n)}) || ${padded(n)})`
  const executionAt = (n: string) => at(`${CALLS_AN_EXECUTION} * (${n})`)
  const executionId = (n: string) => `(money.id_bound('exe', ${executionAt(n)}) || ${padded(n)})`
  return { at, callId, executionAt, executionId }
}

export async function fillCalls(
  fixture: Fixture,
  size: Size,
  project: FilledProject,
  log: (line: string) => void,
): Promise<void> {
  const month = new Date(project.toMs)
  await makePartitions(fixture, Date.UTC(month.getUTCFullYear(), month.getUTCMonth()))
  await addFunds(fixture, size, project)
  for (let first = 0; first < size.calls; first += PART) {
    const last = Math.min(first + PART, size.calls) - 1
    await fixture.run(addCalls(callsOfProject(size, project)), [first, last, project.id, project.products])
    log(`  ${(last + 1).toLocaleString('en-US')} calls`)
  }
  const ofOthers = [0, size.otherProjects * CALLS_OF_OTHERS - 1]
  await fixture.run(addCalls(callsOfOthers(size, project)), [...ofOthers, project.products])
  await addExecutions(fixture, size, project)
  await fixture.run(
    `UPDATE money.wallets w SET settled = spent, journal_seq = 1 + 2 * calls
       FROM (SELECT project, sum(charged_micro) AS spent, count(*) AS calls FROM money.attempts GROUP BY project) a
      WHERE a.project = w.project`,
  )
  await fixture.run(
    `SELECT money.fund($1, 'invoice-' || n, 1000000, 'usr_operator') FROM generate_series(1, $2::int) n`,
    [project.id, size.fundings],
  )
  await fixture.run(CHECKPOINTS)
}

/** The first entry of each journal. */
async function addFunds({ run }: Fixture, size: Size, project: FilledProject): Promise<void> {
  await run(
    `WITH project AS (
       SELECT $1 AS id UNION ALL SELECT ${idSql('prj', 'n')} FROM generate_series(0, $2::int - 1) n
     ), wallet AS (
       INSERT INTO money.wallets (project, funded, journal_seq) SELECT id, $3, 1 FROM project
     ), funding AS (
       INSERT INTO money.fundings (project, funding_id, micro, funded_by, at)
       SELECT id, 'first', $3, 'usr_operator', $4 FROM project
     )
     INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
     SELECT id, 1, 'fund', 'first', $3, 0, 0, -$3, $4 FROM project`,
    [project.id, size.otherProjects, FUNDS, new Date(project.toMs - (DAYS + 1) * DAY_MS)],
  )
}

/** Facts of a call that do not depend on its project. */
const CHANCE = `
  exp(7.3 + 1.5 * (random() + random() + random() - 1.5))::integer AS ms, random() < 0.02 AS failed,
  random() < 0.4 AS streamed, (50 + 4000 * random() ^ 6)::integer AS charged`

/** Calls $1 to $2 of project $3 for the products $4. */
function callsOfProject(size: Size, project: FilledProject): string {
  const { at, callId, executionId } = callSql(size, project)
  return `
    SELECT $3::text AS project, n AS nth, ${at('n')} AS at, ${callId('n')} AS id, ms, failed, streamed, charged, tag,
           CASE WHEN n % 20 = 0 THEN '' ELSE ${idSql('key', 'key')} END AS key,
           ($4::text[])[product] AS product,
           CASE WHEN n % 20 = 0 THEN ${executionId(`n / ${CALLS_AN_EXECUTION}`)} END AS execution,
           CASE WHEN n % 20 = 0 THEN 'step' || n % ${CALLS_AN_EXECUTION} / 20 END AS node
      FROM (SELECT n, floor(${size.keys} * random() ^ 2)::integer AS key, ${CHANCE},
                   1 + floor(${project.products.length} * random() ^ 2)::integer AS product,
                   'job-' || nullif(floor(${size.tags + 1} * random())::integer, 0) AS tag
              FROM generate_series($1::int, $2::int) n) c`
}

/** Calls $1 to $2 of the other projects for the products $3. */
function callsOfOthers(size: Size, project: FilledProject): string {
  const { at } = callSql(size, project)
  const moment = `${size.calls}.0 * n / ($2::int + 1)`
  return `
    SELECT ${idSql('prj', `n / ${CALLS_OF_OTHERS}`)} AS project, n % ${CALLS_OF_OTHERS} AS nth, ${at(moment)} AS at,
           money.id_bound('inv', ${at(moment)}) || 'x' || lpad(n::text, 15, '0') AS id,
           ms, failed, streamed, charged, NULL AS tag, 'key_other' AS key, ($3::text[])[1 + n % 8] AS product,
           NULL AS execution, NULL AS node
      FROM (SELECT n, ${CHANCE} FROM generate_series($1::int, $2::int) n) c`
}

/** Adds these calls and their entries of the journal, which follow the one of the funds. */
function addCalls(calls: string): string {
  return `
    WITH call AS MATERIALIZED (${calls}),
    entry AS (
      INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
      SELECT project, 2 * nth + 2, 'reserve', id, -${RESERVED}, ${RESERVED}, 0, 0, at FROM call
       UNION ALL
      SELECT project, 2 * nth + 3, CASE WHEN failed THEN 'release' ELSE 'settle' END, id,
             CASE WHEN failed THEN ${RESERVED} ELSE ${RESERVED} - charged END, -${RESERVED},
             CASE WHEN failed THEN 0 ELSE charged END, 0, at
        FROM call
    )
    INSERT INTO money.attempts (id, invocation, attempt, state, reason, project, key, lineage, product, instance,
      reserved_micro, charged_micro, prompt_pico, completion_pico, prompt_tokens, completion_tokens, admitted_at, closed_at,
      execution, node, tag, first_token_ms, cost_pico)
    SELECT id, id, 1, CASE WHEN failed THEN 'Released' ELSE 'Settled' END,
           CASE WHEN failed THEN 'provider simulated: unavailable: 503' END, project, key, key, product, 'ins_bench',
           ${RESERVED}, CASE WHEN failed THEN 0 ELSE charged END, 150000, 600000,
           CASE WHEN NOT failed THEN 2 * charged END, CASE WHEN NOT failed THEN charged END, at, at + ms * interval '1 ms',
           execution, node, tag, CASE WHEN streamed AND NOT failed THEN ms / 5 END,
           CASE WHEN NOT failed AND charged % 4 > 0 THEN 700000 * charged::bigint END
      FROM call`
}

/** Executions of the calls that name one, each with its nodes. Few have failed, and none is running. */
async function addExecutions({ run }: Fixture, size: Size, project: FilledProject): Promise<void> {
  const { callId, executionAt, executionId } = callSql(size, project)
  await run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, seq, output, error,
       created_at, started_at, deadline_at, completed_at)
     SELECT ${executionId('n')}, $1, ${idSql('sbx', 'flow')}, 1, ${idSql('usr', `n % ${size.members}`)},
            'invoke', status, 7, CASE status WHEN 'Succeeded' THEN '{"text":"done"}'::bytea END,
            CASE WHEN status <> 'Succeeded' THEN convert_to($3, 'UTF8') END, at, at, at, at + interval '9 s'
       FROM (SELECT n, ${executionAt('n')} AS at, floor(${size.flows} * random() ^ 2)::integer AS flow,
                    CASE n % 50 WHEN 0 THEN 'Failed' WHEN 1 THEN 'Cancelled' ELSE 'Succeeded' END AS status
               FROM generate_series(0, $2::int - 1) n) e`,
    [project.id, size.executions, JSON.stringify(refuse('internal_error', {}).body)],
  )
  await run(
    `INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state, seq, ports, output, call, charge,
       completed_at, duration_ms)
     SELECT ${executionId('n')}, ordinal, CASE ordinal WHEN 0 THEN 'in' WHEN 6 THEN 'out' ELSE 'step' || ordinal - 1 END,
            CASE ordinal WHEN 0 THEN 'input' WHEN 6 THEN 'output' ELSE 'chat' END, $1,
            CASE ordinal WHEN 0 THEN '{}' ELSE ARRAY[ordinal - 1] END, 'Succeeded', ordinal + 1, '["text"]', '{"text":"done"}',
            CASE WHEN ordinal BETWEEN 1 AND 5 THEN ${callId(`${CALLS_AN_EXECUTION} * n + 20 * (ordinal - 1)`)} END,
            CASE WHEN ordinal BETWEEN 1 AND 5 THEN ${callId(`${CALLS_AN_EXECUTION} * n + 20 * (ordinal - 1)`)} END,
            ${executionAt('n')} + interval '9 s', 1500
       FROM generate_series(0, $2::int - 1) n, generate_series(0, 6) ordinal`,
    [project.id, size.executions],
  )
}
