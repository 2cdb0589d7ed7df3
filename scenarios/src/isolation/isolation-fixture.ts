import { projectTokenPermission, tenantTokenPermission } from '@gateway/api/console/access-tokens'
import type { AssetValue } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { nameOf, type Fixture, type ProjectFixture, type SandboxFixture } from '@gateway/testbed/fixture'
import { callerAt, type Caller } from '../caller.ts'

// A tenant with two projects, another tenant, and one caller of each kind.

/** One resource of each kind that a path or a body can name. */
export interface Ids {
  tenant: string
  /** Owns the project. */
  team: string
  /** Owns nothing, so it can be deleted. */
  emptyTeam: string
  /** Of a tag. */
  budget: string
  /** A member of the tenant and the team with the Project Consumer role. */
  user: string
  project: string
  /** Assigned to the project. */
  product: string
  /** An embedding product. */
  embedder: string
  /** Published, and assigned to no project. */
  newProduct: string
  key: string
  invocation: string
  webhook: string
  /** Delivered to the webhook. */
  notice: string
  sandbox: string
  /** An execution of the sandbox product. */
  execution: string
  /** An uploaded image. */
  asset: string
  /** An open invitation of the tenant. */
  invitation: string
  /** A personal token of the project owner. */
  token: string
  /** A session of the project owner. */
  session: string
  /** A service token of the organization. */
  tenantToken: string
  /** A service token of the project. */
  projectToken: string
}
export type IdName = keyof Ids

export interface IsolationFixture {
  /** Resources that the requests name. */
  own: Ids
  /** Resources of another project of the same tenant. */
  neighbours: Ids
  otherTenant: Ids
  callers: Record<UserName | KeyName | 'anonymous', Caller>
  /** The users again, each with a session instead of a personal token. */
  sessions: Record<UserName, Caller>
  /** Service tokens with every permission: of another project of the tenant, and of another tenant. */
  tokens: Record<'neighbour' | 'otherTenant', Caller>
  /** A deleted, an expired and a nonexistent personal token. */
  badTokens: Caller[]
}

/**
 * The platform operator, a tenant Admin, the owner, a consumer and a viewer of the own project, and the owners of another
 * project of the tenant and of another tenant's.
 */
export const users = ['operator', 'admin', 'owner', 'consumer', 'viewer', 'neighbour', 'otherTenant'] as const
export type UserName = (typeof users)[number]

/** A valid key, keys of another project and of another tenant, and keys that are always refused. */
export const keys = [
  'key',
  'neighbourKey',
  'otherTenantKey',
  'legacyKey',
  'revokedKey',
  'expiredKey',
  'rotatedKey',
] as const
export type KeyName = (typeof keys)[number]

export async function openIsolationFixture(fixture: Fixture, url: string): Promise<IsolationFixture> {
  const at = (secret: string | null) => callerAt(url, secret)
  const of = await fixture.tenant()
  const [own, neighbours] = [await openProject(fixture, url, of), await openProject(fixture, url, of)]
  const otherTenant = await openProject(fixture, url, await fixture.tenant(), 'Admin')
  const [operator, admin] = [await fixture.user({ platformOperator: true }), await fixture.user()]
  await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [
    of.tenant,
    admin,
  ])

  const { project, owner } = own
  const viewer = await fixture.issuer(project, 'Project Viewer')
  const serviceToken = async ({ tenant, project }: Ids, ofProject: boolean) => {
    const permissions = (ofProject ? projectTokenPermission : tenantTokenPermission).options
    const token = await fixture.accessToken({ tenant, project: ofProject ? project : null, permissions })
    return at(token.secret)
  }
  const tokenOf = async (user: string) => at((await fixture.token(user)).secret)
  const sessionOf = async (user: string) => at((await fixture.session(user)).secret)
  const rotated = await fixture.key({ project, by: owner })
  await fixture.run('UPDATE control.keys SET rotated_to = $2 WHERE id = $1', [rotated.id, own.key.id])
  const ended = await fixture.token(owner)
  await fixture.run('DELETE FROM control.user_tokens WHERE id = $1', [ended.id])
  return {
    own: own.ids,
    neighbours: neighbours.ids,
    otherTenant: otherTenant.ids,
    callers: {
      operator: await tokenOf(operator),
      admin: await tokenOf(admin),
      owner: await tokenOf(owner),
      consumer: await tokenOf(own.ids.user),
      viewer: await tokenOf(viewer),
      neighbour: await tokenOf(neighbours.owner),
      otherTenant: await tokenOf(otherTenant.owner),
      anonymous: at(null),
      key: at(own.key.secret),
      neighbourKey: at(neighbours.key.secret),
      otherTenantKey: at(otherTenant.key.secret),
      legacyKey: at((await fixture.key({ project: null, tenant: of.tenant, by: owner })).secret),
      revokedKey: at((await fixture.key({ project, by: owner, revoked: true })).secret),
      expiredKey: at((await fixture.key({ project, by: owner, expiresInMs: -1 })).secret),
      rotatedKey: at(rotated.secret),
    },
    sessions: {
      operator: await sessionOf(operator),
      admin: await sessionOf(admin),
      owner: await sessionOf(owner),
      consumer: await sessionOf(own.ids.user),
      viewer: await sessionOf(viewer),
      neighbour: await sessionOf(neighbours.owner),
      otherTenant: await sessionOf(otherTenant.owner),
    },
    tokens: {
      neighbour: await serviceToken(neighbours.ids, true),
      otherTenant: await serviceToken(otherTenant.ids, false),
    },
    badTokens: [at(ended.secret), at((await fixture.token(owner, { expiresInMs: -1 })).secret), at('svu_garbage')],
  }
}

const ofProject = [
  'project',
  'key',
  'invocation',
  'webhook',
  'notice',
  'sandbox',
  'execution',
  'asset',
  'token',
  'session',
  'projectToken',
] as const
const ofTenant = [...ofProject, 'tenant', 'team', 'emptyTeam', 'budget', 'user', 'invitation'] as const

/** IDs that must not appear in any response to this caller. */
export function hiddenFrom(
  name: keyof IsolationFixture['callers'],
  { own, neighbours, otherTenant }: IsolationFixture,
): string[] {
  const [ours, theirs, foreign] = [own, neighbours, otherTenant].map((ids) => ({
    ofProject: ofProject.map((kind) => ids[kind]),
    ofTenant: ofTenant.map((kind) => ids[kind]),
  })) as [Hidden, Hidden, Hidden]
  const others: Partial<Record<typeof name, string[]>> = {
    operator: [...ours.ofProject, ...theirs.ofProject, ...foreign.ofProject],
    admin: [own, neighbours]
      .flatMap(({ token, session, sandbox, execution, asset }) => [token, session, sandbox, execution, asset])
      .concat(foreign.ofTenant),
    neighbour: [...ours.ofProject, ...foreign.ofTenant],
    neighbourKey: [...ours.ofProject, ...foreign.ofTenant],
    otherTenant: [...ours.ofTenant, ...theirs.ofTenant],
    otherTenantKey: [...ours.ofTenant, ...theirs.ofTenant],
  }
  return others[name] ?? [...theirs.ofProject, ...foreign.ofTenant]
}
type Hidden = Record<'ofProject' | 'ofTenant', string[]>

/** A project with a team, users, a key, a product and a call. Its owner has the given tenant role. */
async function openProject(
  fixture: Fixture,
  url: string,
  { tenant }: { tenant: string },
  role: 'Admin' | 'Member' = 'Member',
) {
  const [team, emptyTeam] = [fixture.id('tea'), fixture.id('tea')]
  const owner = await fixture.user()
  for (const id of [team, emptyTeam])
    await fixture.run('INSERT INTO control.teams (id, tenant, name) VALUES ($1, $2, $3)', [id, tenant, nameOf(id)])
  await fixture.run('INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, $3)', [
    tenant,
    owner,
    role,
  ])
  await fixture.run(`INSERT INTO control.team_members (team, user_id, role) VALUES ($1, $2, 'Team Owner')`, [
    team,
    owner,
  ])
  const project = await fixture.project({ tenant, team, owner }, 1_000_000n)
  const user = await fixture.issuer(project)
  const [product, newProduct] = [await fixture.publishProduct(), await fixture.publishProduct()]
  await fixture.assign(project.id, product)
  const embedder = await fixture.publishProduct({ kind: 'embedding', completionPico: 0n })
  await fixture.assign(project.id, embedder)
  const key = await fixture.key({ project, by: owner })
  const invocation = await settledCall(fixture, project, key.id, product)
  const webhook = fixture.id('whk')
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     VALUES ($1, $2, 'https://hooks.example.com/', 'a key', $3, now())`,
    [webhook, project.id, owner],
  )
  const notice = fixture.id('ntc')
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, key, at) VALUES ($1, $2, 'key.rotated', $3, now()))
     INSERT INTO money.webhook_deliveries (notice, webhook, state, next_try_at, ended_at)
     VALUES ($1, $4, 'Delivered', now(), now())`,
    [notice, project.id, key.id, webhook],
  )
  const sandbox = await fixture.sandbox(project, echo, { mcpEnabled: true })
  await fixture.run(
    `INSERT INTO control.audit (tenant, user_id, action, subject) VALUES ($1, $2, 'sandbox.create', $3)`,
    [tenant, owner, sandbox.id],
  )
  const execution = await endedExecution(fixture, sandbox, owner)
  const asset = await uploadedImage(url, key.secret)
  const invitation = fixture.id('ivt')
  await fixture.run(
    `INSERT INTO control.invitations (id, tenant, email, role, by_mail, invited_by, created_at, expires_at)
     VALUES ($1, $2, $3, 'Member', false, $4, now(), now() + interval '72 hours')`,
    [invitation, tenant, `${invitation}@example.test`, owner],
  )
  const budget = fixture.id('bud')
  await fixture.run(
    `INSERT INTO money.budgets (id, tenant, kind, subject, target, limit_micro, is_hard, window_start, created_by, created_at)
     VALUES ($1, $2, 'tag', $1, $1, 1000000, false, to_timestamp(0), $3, now())`,
    [budget, tenant, owner],
  )
  const token = (await fixture.token(owner)).id
  const session = (await fixture.session(owner)).id
  const tenantToken = (await fixture.accessToken({ tenant, project: null, permissions: ['audit.read'] })).id
  const ofProject = { tenant, project: project.id, permissions: ['sandboxes.use'] }
  const projectToken = (await fixture.accessToken(ofProject)).id
  const ids: Ids = {
    tenant,
    team,
    emptyTeam,
    budget,
    user,
    project: project.id,
    product,
    embedder,
    newProduct,
    key: key.id,
    invocation,
    webhook,
    notice,
    sandbox: sandbox.id,
    execution,
    asset,
    invitation,
    token,
    session,
    tenantToken,
    projectToken,
  }
  return { ids, owner, project, key }
}

async function settledCall(fixture: Fixture, project: ProjectFixture, key: string, product: string): Promise<string> {
  const id = fixture.id('inv')
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, admitted_at, closed_at)
     VALUES ($1, $1, 1, 'Settled', $2, $3, $3, $4, now(), now())`,
    [id, project.id, key, product],
  )
  return id
}

/** A free flow that returns its input. */
export const echo: Graph = {
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}

async function endedExecution(fixture: Fixture, { id: sandbox, project, revision }: SandboxFixture, user: string) {
  const id = fixture.id('exe')
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, seq, output, created_at, started_at,
       deadline_at, completed_at)
     VALUES ($1, $2, $3, $4, $5, 'invoke', 'Succeeded', 3, '{"text":"Hello"}', now(), now(), now(), now())`,
    [id, project, sandbox, revision, user],
  )
  await fixture.run(
    `INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state, seq, ports, output)
     SELECT $1, n.ordinal, n.kind, n.kind, $2, '{}', 'Succeeded', n.ordinal + 1, '["text"]', '{"text":"Hello"}'
       FROM (VALUES (0, 'in'), (1, 'out')) n (ordinal, kind)`,
    [id, project],
  )
  return id
}

/** Bytes with a PNG signature. */
export const PNG = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1')

async function uploadedImage(url: string, secret: string): Promise<string> {
  const answer = await fetch(`${url}/v1/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'image/png' },
    body: PNG,
  })
  return ((await answer.json()) as AssetValue).asset
}

/** Well-formed IDs of missing resources. */
export function idsOfNothing(fixture: Fixture): Ids {
  return {
    tenant: fixture.id('ten'),
    team: fixture.id('tea'),
    emptyTeam: fixture.id('tea'),
    budget: fixture.id('bud'),
    user: fixture.id('usr'),
    project: fixture.id('prj'),
    product: `acme/${fixture.id('m')}`,
    embedder: `acme/${fixture.id('m')}`,
    newProduct: `acme/${fixture.id('m')}`,
    key: fixture.id('key'),
    invocation: fixture.id('inv'),
    webhook: fixture.id('whk'),
    notice: fixture.id('ntc'),
    sandbox: fixture.id('sbx').replace('_', '-'),
    execution: fixture.id('exe'),
    asset: fixture.id('ast'),
    invitation: fixture.id('ivt'),
    token: fixture.id('tok'),
    session: fixture.id('ses'),
    tenantToken: fixture.id('atk'),
    projectToken: fixture.id('atk'),
  }
}
