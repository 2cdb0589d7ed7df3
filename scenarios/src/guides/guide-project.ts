import { randomUUID } from 'node:crypto'
import { type Scope, scope } from '@gateway/api/console/scopes'
import type { SeededStack } from '@gateway/testbed/seeded-stack'
import { callerAt, type Answer } from '../caller.ts'

const FUNDS_MICRO = 10_000_000

/**
 * Variables for a new project with $10, every seeded product, a key, and a personal token with the scopes that the page names: the
 * prerequisites of a guide.
 */
export async function openGuideProject(stack: SeededStack, page: string): Promise<Record<string, string>> {
  const user = callerAt(stack.baseUrl, stack.consoleToken)
  const tenant = `/api/v2/tenants/${stack.tenant}`
  const made = async (answer: Promise<Answer>) => {
    const { status, text, body } = await answer
    if (status >= 300) throw new Error(`Creating the guide project failed: ${status} ${text}`)
    return body
  }
  const { id: project } = await made(user.ask('POST', `${tenant}/projects`, { name: `Guide ${randomUUID()}` }))
  const funding = { fundingId: randomUUID(), micro: FUNDS_MICRO }
  await made(user.ask('POST', `${tenant}/projects/${project}/wallet/fundings`, funding))
  for (const product of [...stack.models, ...Object.values(stack.media)])
    await made(user.ask('PUT', `${tenant}/projects/${project}/assignments/${encodeURIComponent(product)}`, undefined))
  const { secret } = await made(user.ask('POST', `${tenant}/keys`, { project, name: 'A guide' }))
  return {
    GATEWAY_URL: stack.baseUrl,
    GATEWAY_EMAIL: stack.email,
    GATEWAY_PASSWORD: stack.password,
    GATEWAY_TENANT: stack.tenant,
    GATEWAY_PROJECT: project,
    ...(page.includes('GATEWAY_TOKEN') && { GATEWAY_TOKEN: await personalToken(stack, scopesOf(page)) }),
    GATEWAY_KEY: secret,
  }
}

/** Scopes that a page names for its personal token. @throws Error if it names none */
export function scopesOf(page: string): Scope[] {
  const [, named = ''] = /personal\s+token\s+with\s+the\s+scopes?\s+((?:`[\w:]+`(?:\s+and\s+)?)+)/.exec(page) ?? []
  const scopes = [...named.matchAll(/`([^`]+)`/g)].map(([, name]) => scope.parse(name))
  if (scopes.length === 0) throw new Error('The page does not say which scopes its personal token needs.')
  return scopes
}

/** Creates a personal token as its user does, in a session: a token can't create one. */
async function personalToken({ baseUrl, email, password }: SeededStack, scopes: Scope[]): Promise<string> {
  const session = await callerAt(baseUrl, null).ask('POST', '/api/v2/session', { email, password })
  const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!
  const made = await callerAt(baseUrl, null).ask('POST', '/api/v2/me/tokens', { name: 'A guide', scopes }, { cookie })
  if (made.status !== 201) throw new Error(`Creating the personal token failed: ${made.status} ${made.text}`)
  return made.body.secret as string
}
