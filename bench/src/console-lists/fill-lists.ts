import { LATENCY_BUCKETS } from '@gateway/ledger-protocol/provider-report'
import type { Fixture } from '@gateway/testbed/fixture'
import { longFlow } from '../console-page/largest-flow.ts'
import { idSql, type Size } from './size.ts'

// What the lists have except calls and executions: in the project, in its organization, and in the installation. The
// ids are of this bench alone, so the SQL may name them.

interface Scope {
  tenant: string
  team: string
  project: string
  /** Who reads the lists: owner of the project, Admin, and platform operator. */
  owner: string
}

export async function fillLists(fixture: Fixture, size: Size, scope: Scope): Promise<void> {
  await addFlows(fixture, size, scope)
  const rows = [...members(size, scope), ...organizations(size, scope), ...keys(size, scope), ...money(size, scope)]
  const others = [...notices(size, scope), ...access(size, scope), ...audit(size, scope), ...providers()]
  for (const sql of [...rows, ...others]) await fixture.run(sql)
}

const upTo = (count: number) => `generate_series(0, ${count - 1}) n`
const ago = (n: string, unit: string) => `now() - (${n}) * interval '1 ${unit}'`
const hashOf = (what: string) => `sha256(('${what}' || n)::bytea)`

function members({ members: count }: Size, { tenant, team, project }: Scope): string[] {
  const user = idSql('usr', 'n')
  return [
    `INSERT INTO control.users (id, email, name) SELECT ${user}, 'member' || n || '@example.test', 'Member ' || n FROM ${upTo(count)}`,
    `INSERT INTO control.memberships (tenant, user_id, role) SELECT '${tenant}', ${user}, 'Member' FROM ${upTo(count)}`,
    `INSERT INTO control.team_members (team, user_id, role) SELECT '${team}', ${user}, 'Team Member' FROM ${upTo(count)}`,
    `INSERT INTO control.project_grants (project, user_id, role)
     SELECT '${project}', ${user}, 'Project Consumer' FROM ${upTo(count)}`,
    `INSERT INTO control.teams (id, tenant, name) SELECT 'tea_own' || n, '${tenant}', 'Team ' || n FROM ${upTo(20)}`,
    `INSERT INTO control.invitations (id, tenant, email, role, by_mail, invited_by, created_at, expires_at)
     SELECT 'ivt_' || n, '${tenant}', 'new' || n || '@example.test', 'Member', false, ${user}, now(), now() + interval '2 days'
       FROM ${upTo(count)}`,
  ]
}

/** Other organizations, each with an Admin and a team. A few of their projects are in the organization of the project. */
function organizations({ members: first, ...size }: Size, { tenant, team }: Scope): string[] {
  const of = upTo(size.organizations)
  const admin = idSql('usr', `${first} + n`)
  return [
    `INSERT INTO control.users (id, email, name) SELECT ${admin}, 'admin' || n || '@example.test', 'Admin ' || n FROM ${of}`,
    `INSERT INTO control.tenants (id, name) SELECT ${idSql('ten', 'n')}, 'Company ' || n FROM ${of}`,
    `INSERT INTO control.memberships (tenant, user_id, role) SELECT ${idSql('ten', 'n')}, ${admin}, 'Admin' FROM ${of}`,
    `INSERT INTO control.teams (id, tenant, name) SELECT 'tea_other' || n, ${idSql('ten', 'n')}, 'Everyone' FROM ${of}`,
    `INSERT INTO control.projects (id, tenant, team, name)
     SELECT ${idSql('prj', 'n')}, CASE WHEN n < ${size.siblings} THEN '${tenant}' ELSE ${idSql('ten', `n % ${size.organizations}`)} END,
            CASE WHEN n < ${size.siblings} THEN '${team}' ELSE 'tea_other' || n % ${size.organizations} END, 'Project ' || n
       FROM ${upTo(size.otherProjects)}`,
  ]
}

/** Keys of the members; half of them have a limit, and one of ten is revoked. */
function keys({ keys: count, members: users }: Size, { tenant, project }: Scope): string[] {
  const key = idSql('key', 'n')
  return [
    `INSERT INTO control.keys (id, hash, prefix, name, tenant, project, lineage, policy, limit_micro, limit_reset, created_by,
       created_at, expires_at, expiry_days, revoked_at)
     SELECT ${key}, ${hashOf('key')}, 'svc_bench000', 'Key ' || n, '${tenant}', '${project}', ${key},
            CASE n % 20 WHEN 0 THEN 'listed' ELSE 'all-eligible' END, CASE n % 2 WHEN 0 THEN 1000000000 END,
            CASE n % 2 WHEN 0 THEN 'monthly' END, ${idSql('usr', `n % ${users}`)}, ${ago('n', 'minute')},
            now() + interval '60 days', 90, CASE n % 10 WHEN 5 THEN now() END
       FROM ${upTo(count)}`,
    `INSERT INTO control.key_resources (key, resource)
     SELECT ${key}, p.id FROM ${upTo(count)}, control.products p WHERE n % 20 = 0`,
    `INSERT INTO money.meters (lineage, project, window_start, limit_micro, spent)
     SELECT ${key}, '${project}', date_trunc('month', now(), 'UTC'), 1000000000, 1000 * n FROM ${upTo(count)} WHERE n % 2 = 0`,
    `INSERT INTO money.key_uses (key, last_used_at) SELECT ${key}, ${ago('n', 'minute')} FROM ${upTo(count)}`,
  ]
}

/** Flows are copies of one, which has many revisions more. */
async function addFlows(fixture: Fixture, size: Size, { project, owner }: Scope): Promise<void> {
  const { id } = await fixture.sandbox({ id: project }, longFlow(), { by: owner })
  const flow = idSql('sbx', 'n')
  const copied = `draft, graph, problems, digest, package, manifest, paid_nodes, chat_input, chat_output, created_by`
  const copies = [
    `INSERT INTO control.sandboxes (id, project, name, description, latest_revision, created_by)
     SELECT ${flow}, '${project}', 'Flow ' || n, 'A flow of the bench', 1, '${owner}' FROM ${upTo(size.flows)}`,
    `INSERT INTO control.revisions (sandbox, number, ${copied})
     SELECT ${flow}, number, ${copied} FROM control.revisions, ${upTo(size.flows)} WHERE sandbox = '${id}'`,
    `INSERT INTO control.revisions (sandbox, number, ${copied})
     SELECT ${idSql('sbx', '0')}, n + 2, ${copied} FROM control.revisions, ${upTo(size.revisions)} WHERE sandbox = '${id}'`,
    `UPDATE control.sandboxes SET active_revision = 1, activated_at = now(), latest_revision = ${size.revisions + 1}
      WHERE id = ${idSql('sbx', '0')}`,
    `UPDATE control.sandboxes SET active_revision = 1, activated_at = now() WHERE active_revision IS NULL`,
  ]
  for (const sql of copies) await fixture.run(sql)
}

/** Budgets, errors and assets. */
function money(size: Size, { tenant, project, owner }: Scope): string[] {
  const budgets = (kind: string, subject: string, count: number) => `
    INSERT INTO money.budgets (id, tenant, kind, subject, target, limit_micro, is_hard, window_start, spent, created_by, created_at)
    SELECT 'bud_${kind}' || n, '${tenant}', '${kind}', ${subject}, '${tenant} ${kind} ' || ${subject}, 1000000000, n % 2 = 0,
           date_trunc('month', now(), 'UTC'), 1000 * n, '${owner}', now() FROM ${upTo(count)}`
  const codes = `(ARRAY['insufficient_budget', 'key_limit', 'model_not_found', 'rate_limited'])`
  return [
    budgets('user', idSql('usr', 'n'), size.members),
    budgets('team', `'tea_own' || n`, 20),
    budgets('tag', `'job-' || n + 1`, size.tags),
    `INSERT INTO money.refusal_hours (project, hour, key, code, count)
     SELECT '${project}', date_trunc('hour', now(), 'UTC') - hour * interval '1 hour', ${idSql('key', 'n')}, code, 7
       FROM generate_series(0, 31 * 24) hour, ${upTo(Math.ceil(size.keys / 100))}, unnest(${codes}) code`,
    `INSERT INTO money.latest_refusals (project, at, request, key, model, code)
     SELECT '${project}', ${ago('n', 'second')}, 'req_' || n, ${idSql('key', 'n % 5')}, 'acme/model-1', ${codes}[1 + n % 4]
       FROM ${upTo(100)}`,
    `INSERT INTO money.assets (id, project, mime_type, bytes, execution, sandbox, user_id, created_at)
     SELECT 'ast_' || n, '${project}', 'image/png', 1000 + n, e.id, e.sandbox, CASE WHEN e.id IS NULL THEN '${owner}' END,
            ${ago('n', 'minute')}
       FROM ${upTo(size.assets)}
       LEFT JOIN (SELECT id, sandbox, row_number() OVER (ORDER BY id DESC) AS nth FROM money.executions) e ON e.nth = n + 1 AND n % 2 = 1`,
  ]
}

/** Alerts, webhooks, and the deliveries of all alerts to one of them. */
function notices(size: Size, { project, owner }: Scope): string[] {
  const notice = `'ntc_' || lpad(n::text, 26, '0')`
  return [
    `INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, key, lineage, window_start, limit_micro, spent_micro, at)
     SELECT ${notice}, '${project}', kind, CASE kind WHEN 'wallet.below' THEN 1000000 * (1 + n % 5) ELSE 80 END,
            CASE kind WHEN 'wallet.below' THEN 900000 END, key, key,
            CASE kind WHEN 'key.percent' THEN date_trunc('month', now(), 'UTC') END,
            CASE kind WHEN 'key.percent' THEN 1000000 END, CASE kind WHEN 'key.percent' THEN 810000 END, ${ago('5 * n', 'minute')}
       FROM (SELECT n, CASE n % 2 WHEN 0 THEN 'wallet.below' ELSE 'key.percent' END AS kind,
                    CASE n % 2 WHEN 1 THEN ${idSql('key', `n % ${size.keys}`)} END AS key
               FROM ${upTo(size.notices)}) n`,
    `INSERT INTO money.webhooks (id, project, kind, url, created_by, created_at)
     SELECT ${idSql('whk', 'n')}, '${project}', 'slack', 'https://hooks.example.com/' || n, '${owner}', now() FROM ${upTo(5)}`,
    `INSERT INTO money.webhooks (id, project, kind, url, created_by, created_at)
     SELECT ${idSql('whk', '5 + n')}, ${idSql('prj', 'n')}, 'slack', 'https://hooks.example.com/' || n, ${idSql('usr', `n % ${size.members}`)}, now()
       FROM ${upTo(size.siblings)}`,
    `INSERT INTO money.webhook_deliveries (notice, webhook, state, tries, next_try_at, status, ended_at)
     SELECT ${notice}, ${idSql('whk', '0')}, CASE n % 50 WHEN 0 THEN 'Dead' ELSE 'Delivered' END, 1, now(), 200, now()
       FROM ${upTo(size.notices)}`,
  ]
}

/** Tokens and sessions. */
function access(size: Size, { tenant, project, owner }: Scope): string[] {
  return [
    `INSERT INTO control.access_tokens (id, tenant, project, name, hash, prefix, permissions, created_by, expires_at)
     SELECT 'atk_' || lpad(n::text, 26, '0'), '${tenant}', CASE n % 3 WHEN 0 THEN '${project}' END, 'Token ' || n, ${hashOf('access')},
            'svt_bench000', '{usage.read}', ${idSql('usr', `n % ${size.members}`)}, now() + interval '30 days'
       FROM ${upTo(size.tokens)}`,
    `INSERT INTO control.user_tokens (id, user_id, name, hash, prefix, scopes, expires_at)
     SELECT 'tok_bench' || n, '${owner}', 'Token ' || n, ${hashOf('user')}, 'svu_bench000', '{money:read}', now() + interval '30 days'
       FROM ${upTo(20)}`,
    `INSERT INTO control.sessions (id, user_id, hash, method, second_factor, address, device, expires_at)
     SELECT 'ses_bench' || n, '${owner}', ${hashOf('session')}, 'password', false, '203.0.113.7', 'Firefox', now() + interval '9 days'
       FROM ${upTo(20)}`,
  ]
}

/** As many changes in the organization as in all others together, sealed like those that the console writes. */
function audit(
  { changes, organizations: tenants, keys: count, members: users }: Size,
  { tenant, owner }: Scope,
): string[] {
  const user = `CASE n % 10 WHEN 0 THEN '${owner}' ELSE ${idSql('usr', `n % ${users}`)} END`
  const entries = (ofTenant: string, by: string) => `
    INSERT INTO control.audit (tenant, at, user_id, user_name, action, subject, outcome, request, address, device)
    SELECT ${ofTenant}, ${ago(`${changes} - n`, 'minute')}, ${by}, 'A user',
           (ARRAY['key.create', 'grant.set', 'session.create', 'key.revoke'])[1 + n % 4], ${idSql('key', `n % ${count}`)},
           CASE n % 200 WHEN 0 THEN 'refused' ELSE 'succeeded' END, 'req_' || n, '203.0.113.7', 'Firefox'
      FROM ${upTo(changes)}`
  return [
    entries(`'${tenant}'`, user),
    entries(idSql('ten', `n % ${tenants}`), idSql('usr', `${users} + n % ${tenants}`)),
    `SELECT control.seal_audit(${2 * changes})`,
  ]
}

/** A week of two providers, from two processes that keep reporting. */
function providers(): string[] {
  const provider = `(VALUES ('acme-eu'), ('acme-us')) p (provider)`
  const latency = `array_fill(3::bigint, ARRAY[${LATENCY_BUCKETS}])`
  return [
    `INSERT INTO money.provider_slots (slot, provider, model, product, answered, cut, failed, rejected, fallbacks, latency)
     SELECT date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes', provider, 'm', id, ${3 * LATENCY_BUCKETS}, 0, 2, 1, 1,
            ${latency} FROM ${upTo(7 * 288)}, ${provider}, control.products`,
    `INSERT INTO money.provider_failures (provider, at, id, model, product, project, invocation, kind, status)
     SELECT provider, ${ago('n', 'minute')}, 'f' || n, 'm', 'acme/model-1', ${idSql('prj', '0')}, 'inv_' || n, 'unavailable', 503
       FROM ${upTo(50)}, ${provider}`,
    `INSERT INTO money.provider_senders (sender, service, report, started_at, at)
     SELECT 'sender' || n, 'gateway', 1, now(), now() + interval '1 day' FROM ${upTo(2)}`,
    `INSERT INTO money.provider_states (sender, provider, kind, credential, circuit, circuit_at)
     SELECT 'sender' || n, provider, 'openai-compatible', 'environment', 'closed', now() FROM ${upTo(2)}, ${provider}`,
  ]
}
