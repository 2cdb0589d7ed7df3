import type { Graph } from '@gateway/api/graph'
import { refuse } from '@gateway/api/refusal'
import type { Fixture } from '@gateway/testbed/fixture'
import type { Growth } from './grow-books.ts'

// Rows that grow with the calls of a project: fundings, executions, audit entries, refusals, and keys with a limit. All
// of them are for the first project, which has half of the calls.

/** One row per this many calls. */
const CALLS_EACH = { funding: 2_000, execution: 20, change: 20, refusal: 100, key: 2_000 } as const
const CODES = ['insufficient_budget', 'key_limit', 'model_not_found', 'rate_limited']
const EMPTY = { type: 'object' as const, properties: {} }
/** Its executions are inserted by SQL, so it never runs. */
const graph: Graph = { input: EMPTY, output: EMPTY, nodes: [], edges: [] }

export interface Around {
  tenant: string
  owner: string
  sandbox: string
}

export async function openAround(fixture: Fixture, { projects }: Growth, of: Omit<Around, 'sandbox'>): Promise<Around> {
  return { ...of, sandbox: (await fixture.sandbox(projects[0]!, graph, { by: of.owner })).id }
}

/** Adds the rows for the calls from this number up to the current count. */
export async function growAround(fixture: Fixture, growth: Growth, around: Around, from: number): Promise<void> {
  const [{ id: project, key }] = growth.projects as [Growth['projects'][0]]
  const { tenant, owner, sandbox } = around
  const range = (each: number) => [Math.floor(from / each) + 1, Math.floor(growth.calls / each)]
  await fixture.run(`SELECT money.fund($1, 'grown-' || n, 1, $2) FROM generate_series($3::int, $4::int) n`, [
    project,
    owner,
    ...range(CALLS_EACH.funding),
  ])
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, seq, output, error, created_at, started_at,
       deadline_at, completed_at)
     SELECT left(money.id_bound('exe', at), 14) || lpad(to_hex(n), 16, '0'), $1, $2, 1 + n % 7, $3, 'invoke',
            CASE WHEN n % 50 = 0 THEN 'Failed' ELSE 'Succeeded' END, 3, CASE WHEN n % 50 > 0 THEN '{}'::bytea END,
            CASE WHEN n % 50 = 0 THEN convert_to($6, 'UTF8') END, at, at, at, at
       FROM (SELECT n, now() - n * interval '1 millisecond' AS at FROM generate_series($4::int, $5::int) n) e`,
    [project, sandbox, owner, ...range(CALLS_EACH.execution), JSON.stringify(refuse('internal_error', {}).body)],
  )
  await fixture.run(
    `INSERT INTO control.audit (tenant, at, user_id, action, subject)
     SELECT $1, now() - n * interval '1 second', CASE WHEN n % 100 = 0 THEN $2 ELSE 'usr_' || n % 100 END,
            CASE WHEN n % 10 = 0 THEN 'key.create' ELSE 'grant.set' END, 'key_' || n
       FROM generate_series($3::int, $4::int) n`,
    [tenant, owner, ...range(CALLS_EACH.change)],
  )
  await fixture.run(
    `INSERT INTO money.refusal_hours (project, hour, key, code, count)
     SELECT $1, date_trunc('hour', now(), 'UTC') - n / 20 * interval '1 hour', 'key_' || n / 4 % 5, ($2::text[])[1 + n % 4], 7
       FROM generate_series($3::int, $4::int) n`,
    [project, CODES, ...range(CALLS_EACH.refusal)],
  )
  await fixture.run(
    `INSERT INTO money.latest_refusals (project, at, request, key, model, code)
     SELECT $1, now() - n * interval '1 second', 'req_' || n, $2, $3, 'key_limit' FROM generate_series($4::int, $5::int) n`,
    [project, key, growth.model, ...range(CALLS_EACH.refusal)],
  )
  await addKeys(fixture, project, around, range(CALLS_EACH.key))
  await fixture.run('ANALYZE')
}

async function addKeys(fixture: Fixture, project: string, { tenant, owner }: Around, range: number[]): Promise<void> {
  await fixture.run(
    `INSERT INTO control.keys (id, hash, prefix, name, tenant, project, lineage, policy, limit_micro, limit_reset, created_by, expires_at,
       expiry_days)
     SELECT 'key_grown' || n, sha256(n::text::bytea), 'svc_grown_00', 'a key', $1, $2, 'key_grown' || n, 'all-eligible', 1000000, 'monthly',
            $3, now() + interval '90 days', 90
       FROM generate_series($4::int, $5::int) n`,
    [tenant, project, owner, ...range],
  )
  await fixture.run(
    `INSERT INTO money.meters (lineage, project, window_start, limit_micro)
     SELECT 'key_grown' || n, $1, date_trunc('month', now(), 'UTC'), 1000000 FROM generate_series($2::int, $3::int) n`,
    [project, ...range],
  )
}
