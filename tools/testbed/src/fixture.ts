import { createHash, randomBytes } from 'node:crypto'
import {
  ACCESS_TOKEN_PREFIX,
  KEY_SECRET_PREFIX,
  makeSecret,
  mintId,
  SESSION_PREFIX,
  USER_TOKEN_PREFIX,
  SHOWN_CHARACTERS,
} from '@gateway/api/ids'
import { type Scope, userScopes } from '@gateway/api/console/scopes'
import { Pool } from 'pg'
import { nameOf } from './ask.ts'
import { productFixtures, type ProductOptions } from './product-fixture.ts'
import { sandboxFixtures } from './sandbox-fixture.ts'
import { usageFixture } from './usage-fixture.ts'

export { nameOf } from './ask.ts'
export type { ProductOptions } from './product-fixture.ts'
export type { SandboxFixture, SandboxOptions } from './sandbox-fixture.ts'

// Builds the data that a test starts from, directly in the tables: users, projects with money, products, keys, sandbox
// products. Every test and bench uses its functions: tenant(), project(), key(), publishProduct(), and callableTenant()
// for all four.

export interface ProjectFixture {
  id: string
  tenant: string
  team: string
}

export interface KeyFixture {
  id: string
  secret: string
  /** SHA-256 of the secret, hex. */
  hash: string
  project: string | null
}

export interface KeyOptions {
  project: ProjectFixture | null
  by: string
  policy?: 'all-eligible' | 'listed'
  resources?: string[]
  limit?: { micro: bigint; reset: 'daily' | 'weekly' | 'monthly' | 'lifetime' } | null
  expiresInMs?: number
  revoked?: boolean
  tag?: string
  rates?: { requestsPerMinute?: number; tokensPerMinute?: number; concurrentCalls?: number }
}

/** A tenant that can call. */
export interface CallableTenant {
  project: ProjectFixture
  key: KeyFixture
  owner: string
  model: string
}

export interface CallableTenantOptions {
  /** Micro-USD. */
  funds?: bigint
  /** An existing product; by default one is published. */
  model?: string
  product?: ProductOptions
  key?: Partial<KeyOptions>
}

/** Scopes of a personal token that may do all that its user may. */
export const allScopes: readonly Scope[] = [...userScopes, 'operator']

export type Fixture = Awaited<ReturnType<typeof openFixture>>

export async function openFixture(adminUrl: string) {
  // One connection, so that a test can change its session settings; it reconnects after a kill of the server.
  const pool = new Pool({ connectionString: adminUrl, max: 1 })
  pool.on('error', () => {})
  const id = <P extends string>(prefix: P) => mintId(prefix, Date.now(), randomBytes(10))
  const run = (sql: string, values: unknown[] = []) => pool.query(sql, values)

  async function user({ platformOperator = false } = {}): Promise<string> {
    const user = id('usr')
    await run('INSERT INTO control.users (id, email, name, platform_operator) VALUES ($1, $2, $3, $4)', [
      user,
      `${user}@example.test`,
      'A user',
      platformOperator,
    ])
    return user
  }

  /** Creates a personal token of a user, by default for everything; returns its secret. */
  async function token(
    user: string,
    { expiresInMs = 400 * 86_400_000, scopes = allScopes, secondFactor = false } = {},
  ): Promise<{ id: string; secret: string }> {
    const [tokenId, secret] = [id('tok'), makeSecret(USER_TOKEN_PREFIX, randomBytes(32))]
    const hash = createHash('sha256').update(secret).digest()
    await run(
      `INSERT INTO control.user_tokens (id, user_id, name, hash, prefix, scopes, second_factor, expires_at)
       VALUES ($1, $2, 'a token', $3, $4, $5, $6, now() + $7 * interval '1 millisecond')`,
      [tokenId, user, hash, secret.slice(0, SHOWN_CHARACTERS), scopes, secondFactor, expiresInMs],
    )
    return { id: tokenId, secret }
  }

  /** Opens a session of a user; returns its secret, which is the value of the session cookie. */
  async function session(
    user: string,
    { expiresInMs = 3_600_000, secondFactor = false } = {},
  ): Promise<{ id: string; secret: string }> {
    const [sessionId, secret] = [id('ses'), makeSecret(SESSION_PREFIX, randomBytes(32))]
    const hash = createHash('sha256').update(secret).digest()
    await run(
      `INSERT INTO control.sessions (id, user_id, hash, method, second_factor, address, device, expires_at)
       VALUES ($1, $2, $3, 'password', $4, '127.0.0.1', 'a test', now() + $5 * interval '1 millisecond')`,
      [sessionId, user, hash, secondFactor, expiresInMs],
    )
    return { id: sessionId, secret }
  }

  /** Creates a service token of an organization or project. */
  async function accessToken(
    of: { tenant: string; project: string | null; permissions: string[] },
    expiresInMs = 3_600_000,
  ) {
    const [tokenId, secret] = [id('atk'), makeSecret(ACCESS_TOKEN_PREFIX, randomBytes(32))]
    const hash = createHash('sha256').update(secret).digest()
    await run(
      `INSERT INTO control.access_tokens (id, tenant, project, name, hash, prefix, permissions, created_by, expires_at)
       VALUES ($1, $2, $3, 'a token', $4, $5, $6, 'usr_maker', now() + $7 * interval '1 millisecond')`,
      [tokenId, of.tenant, of.project, hash, secret.slice(0, SHOWN_CHARACTERS), of.permissions, expiresInMs],
    )
    return { id: tokenId, secret }
  }

  async function tenant(): Promise<{ tenant: string; team: string; owner: string }> {
    const [tenantId, team, owner] = [id('ten'), id('tea'), await user()]
    await run('INSERT INTO control.tenants (id, name) VALUES ($1, $2)', [tenantId, nameOf(tenantId)])
    await run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [tenantId, owner])
    await run('INSERT INTO control.teams (id, tenant, name) VALUES ($1, $2, $3)', [team, tenantId, nameOf(team)])
    await run(`INSERT INTO control.team_members (team, user_id, role) VALUES ($1, $2, 'Team Owner')`, [team, owner])
    return { tenant: tenantId, team, owner }
  }

  /** Creates a project whose owner may issue keys for it. */
  async function project(
    of: { tenant: string; team: string; owner: string },
    funds: bigint = 0n,
  ): Promise<ProjectFixture> {
    const project = id('prj')
    await run('INSERT INTO control.projects (id, tenant, team, name) VALUES ($1, $2, $3, $4)', [
      project,
      of.tenant,
      of.team,
      nameOf(project),
    ])
    await run(`INSERT INTO control.project_grants (project, user_id, role) VALUES ($1, $2, 'Project Owner')`, [
      project,
      of.owner,
    ])
    if (funds > 0n) await fund(project, funds)
    return { id: project, tenant: of.tenant, team: of.team }
  }

  /** Adds a member to the tenant and the team who may issue keys for a project. */
  async function issuer(
    { id: project, tenant, team }: ProjectFixture,
    role: 'Project Consumer' | 'Project Viewer' = 'Project Consumer',
  ): Promise<string> {
    const who = await user()
    await run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Member')`, [tenant, who])
    await run(`INSERT INTO control.team_members (team, user_id, role) VALUES ($1, $2, 'Team Member')`, [team, who])
    await run(`INSERT INTO control.project_grants (project, user_id, role) VALUES ($1, $2, $3)`, [project, who, role])
    return who
  }

  async function fund(project: string, micro: bigint, fundingId: string = id('fun')): Promise<void> {
    await run('SELECT money.fund($1, $2, $3, $4)', [project, fundingId, micro, 'test'])
  }

  const { publishProduct } = productFixtures({ id, run })

  async function assign(project: string, ...products: string[]): Promise<void> {
    for (const product of products)
      await run('INSERT INTO control.assignments (project, product) VALUES ($1, $2)', [project, product])
  }

  async function key(options: KeyOptions & { tenant?: string }): Promise<KeyFixture> {
    const [keyId, secret] = [id('key'), makeSecret(KEY_SECRET_PREFIX, randomBytes(32))]
    const hash = createHash('sha256').update(secret).digest()
    await run(
      `INSERT INTO control.keys (id, hash, prefix, name, tenant, project, lineage, policy, limit_micro, limit_reset, created_by, expires_at,
         expiry_days, revoked_at, rates, tag)
       VALUES ($1, $2, $3, 'a key', $4, $5, $1, $6, $7, $8, $9, now() + $10 * interval '1 millisecond', 90, CASE WHEN $11 THEN now() END, $12, $13)`,
      [
        keyId,
        hash,
        secret.slice(0, SHOWN_CHARACTERS),
        options.project?.tenant ?? options.tenant,
        options.project?.id ?? null,
        options.policy ?? 'all-eligible',
        options.limit?.micro ?? null,
        options.limit?.reset ?? null,
        options.by,
        options.expiresInMs ?? 7_776_000_000,
        options.revoked ?? false,
        JSON.stringify(options.rates ?? {}),
        options.tag ?? null,
      ],
    )
    for (const resource of options.resources ?? [])
      await run('INSERT INTO control.key_resources (key, resource) VALUES ($1, $2)', [keyId, resource])
    return { id: keyId, secret, hash: hash.toString('hex'), project: options.project?.id ?? null }
  }

  /** Creates a tenant with a funded project, a product assigned to it, and a key of its owner. */
  async function callableTenant(options: CallableTenantOptions = {}): Promise<CallableTenant> {
    const of = await tenant()
    const own = await project(of, options.funds)
    const model = options.model ?? (await publishProduct(options.product))
    await assign(own.id, model)
    return { project: own, model, owner: of.owner, key: await key({ project: own, by: of.owner, ...options.key }) }
  }

  return {
    id,
    user,
    token,
    session,
    accessToken,
    tenant,
    project,
    issuer,
    fund,
    publishProduct,
    /** The name that the fixtures of the services still use. */
    product: publishProduct,
    assign,
    key,
    callableTenant,
    ...sandboxFixtures({ id, run }),
    usage: usageFixture({ run }),
    run,
    close: () => pool.end(),
  }
}
