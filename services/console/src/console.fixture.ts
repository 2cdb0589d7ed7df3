import { randomBytes } from 'node:crypto'
import { SESSION_PREFIX } from '@gateway/api/ids'
import type { RefusalBody } from '@gateway/api/refusal'
import type { Fixture } from '@gateway/testbed/fixture'
import { stackTest } from '@gateway/testbed/stack-test'
import { codeAt } from './sign-in/totp.ts'

export interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- an API response, as a client sees it
  body: any
  headers: Headers
}

export interface Caller {
  id: string
  token: string
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  put(path: string, body?: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

/** Console with a real ledger and signed-in users. */
export const consoleTest = stackTest
  .extend('console', { scope: 'file' }, ({ services }) => services.console!)
  .extend('ledger', { scope: 'file' }, ({ services }) => services.ledgers[0]!)
  .extend('folder', { scope: 'file' }, ({ services }) => services.folder)
  /** Signs in a new or an existing user: with a personal token for everything, or with a session. */
  .extend('signIn', { scope: 'file' }, ({ fixture, console }) => {
    return async (
      who: { id?: string; platformOperator?: boolean; by?: 'token' | 'session'; secondFactor?: boolean } = {},
    ): Promise<Caller> => {
      const id = who.id ?? (await fixture.user({ platformOperator: who.platformOperator ?? false }))
      const { by = 'token', secondFactor = false } = who
      const { secret } = await fixture[by](id, { secondFactor })
      return callerOf(console.url, id, secret)
    }
  })
  /** Tenant with an Admin who owns its only project and may issue keys for it. */
  .extend('stack', async ({ fixture, signIn }) => {
    const tenant = await fixture.tenant()
    const project = await fixture.project(tenant)
    const owner = await signIn({ id: tenant.owner })
    const tenantPath = `/api/v2/tenants/${tenant.tenant}`
    return {
      ...tenant,
      owner,
      project: project.id,
      fixture,
      path: tenantPath,
      projectPath: `${tenantPath}/projects/${project.id}`,
      /** Adds another member with the given roles. */
      async member(roles: { tenant?: string; team?: string; project?: string } = {}): Promise<Caller> {
        const user = await fixture.user()
        const add = (table: string, where: string, what: string, role: string) =>
          fixture.run(`INSERT INTO control.${table} (${where}, user_id, role) VALUES ($1, $2, $3)`, [what, user, role])
        await add('memberships', 'tenant', tenant.tenant, roles.tenant ?? 'Member')
        if (roles.team) await add('team_members', 'team', tenant.team, roles.team)
        if (roles.project) await add('project_grants', 'project', project.id, roles.project)
        return signIn({ id: user })
      },
    }
  })

/** Returns status and code of a refusal, such as `403 not_permitted`; otherwise only the status. */
export function outcomeOf({ status, body }: Answer): string {
  const error = (body as { error?: RefusalBody } | null)?.error
  return error ? `${status} ${error.code}` : String(status)
}

/** The secret of the session whose cookie an answer sets. */
export function sessionSetBy({ headers, status }: Pick<Answer, 'headers' | 'status'>): string {
  const cookie = headers.getSetCookie().find((each) => each.startsWith('svc_session='))
  if (cookie === undefined) throw new Error(`no session cookie in an answer of ${status}`)
  return cookie.split(/[=;]/)[1]!
}

/** Header that sends a token of any kind, or the secret of a session as its cookie. */
export function credentialOf(token: string): Record<string, string> {
  return token.startsWith(SESSION_PREFIX) ? { Cookie: `svc_session=${token}` } : { Authorization: `Bearer ${token}` }
}

/** @param token of any kind, or the secret of a session */
export function callerOf(url: string, id: string, token: string): Caller {
  const address = uniqueAddress()
  const ask = (method: string) => async (path: string, body?: unknown) => {
    const headers = { ...credentialOf(token), 'Content-Type': 'application/json', 'X-Forwarded-For': address }
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return answerOf(answer)
  }
  return {
    id,
    token,
    get: (path) => ask('GET')(path),
    post: ask('POST'),
    put: ask('PUT'),
    patch: ask('PATCH'),
    delete: (path) => ask('DELETE')(path),
  }
}

export async function answerOf(answer: Response): Promise<Answer> {
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Resolves once `howMany` statements in the test's database wait for a lock. */
export async function untilBlocked(fixture: Pick<Fixture, 'run'>, howMany = 1): Promise<void> {
  for (;;) {
    await fixture.run('SELECT pg_stat_clear_snapshot()') // otherwise a transaction keeps seeing its first snapshot of the activity
    const { rows } = await fixture.run(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (rows.length >= howMany) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Address no other test uses: sign-in attempts are counted per address, and test files share a console. */
export function uniqueAddress(): string {
  const network = randomBytes(4).toString('hex')
  return `2001:db8:${network.slice(0, 4)}:${network.slice(4)}::1`
}

/** Signs in by password, as a program without a cookie would. */
export function signInBy(url: string, email: string, password: string, address = uniqueAddress()): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
  return fetch(`${url}/api/v2/session`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
}

/** Makes a user of the fixture a member, by an invitation that they accept. `path`: of the organization. */
export async function join(admin: Caller, path: string, user: Caller): Promise<void> {
  const made = await admin.post(`${path}/invitations`, { email: `${user.id}@example.test` })
  const secret = (made.body.link as string).split('#')[1]!
  const joined = await user.post('/api/v2/me/invitations', { secret })
  if (joined.status !== 201) throw new Error(`not joined: ${outcomeOf(joined)}`)
}

/** The code that an authenticator app shows for a base32 secret, now or some steps of 30 seconds later. */
export function appCode(secret: string, steps = 0): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(secret, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Uint8Array.from(bits.match(/.{8}/g)!, (byte) => Number.parseInt(byte, 2))
  return codeAt(key, Math.floor(Date.now() / 30_000) + steps)
}
