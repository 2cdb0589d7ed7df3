import { ApiRefusal, failureOf } from '@gateway/api-client/failures'
import { expect } from 'vitest'
import { refusals } from '@gateway/api/refusals'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, callerAt, refusalIn, said, type Answer } from './caller.ts'
import { chat, type Stack, type TenantFixture } from './stack.ts'

export type ResolutionContext = Awaited<ReturnType<typeof openResolutionContext>>

/** A tenant, callers for each role that can change it, and the helpers of the stories. */
export async function openResolutionContext(stack: Stack, resolution: RegExp, code: keyof typeof refusals) {
  const { fixture } = stack
  const url = stack.gateways[0]!.url
  const tenant: TenantFixture = await stack.tenant(1_000_000n)
  const { project, owner } = tenant
  const tenantPath = `/api/v2/tenants/${project.tenant}`
  const as = async (user: string) => callerAt(url, (await fixture.token(user)).secret)
  const admin = await fixture.user()
  await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [
    project.tenant,
    admin,
  ])
  const keyOf = (secret: string): KeyFixture => ({ ...tenant.key, secret })
  const call = async (key: KeyFixture = tenant.key, more: Parameters<typeof chat>[2] & { model?: string } = {}) =>
    answerOf(await chat(stack, { key, model: more.model ?? tenant.model }, more))
  const refusedAnswers: Answer[] = []
  return {
    stack,
    fixture,
    tenant,
    tenantPath,
    projectPath: `${tenantPath}/projects/${project.id}`,
    users: {
      admin: await as(admin),
      owner: await as(owner),
      operator: await as(await fixture.user({ platformOperator: true })),
    },
    as,
    call,
    keyOf,
    /** Has a user accept an invitation of the Admin. */
    async invite(user: string): Promise<Answer> {
      const { rows } = await fixture.run('SELECT email FROM control.users WHERE id = $1', [user])
      const made = await (await as(admin)).ask('POST', `${tenantPath}/invitations`, rows[0] as { email: string })
      expect(said(made)).toBe('201')
      const secret = (made.body as { link: string }).link.split('#')[1]
      return (await as(user)).ask('POST', '/api/v2/me/invitations', { secret })
    },
    /** Issues a key through the API. */
    async issue(body: object = {}, by = owner): Promise<KeyFixture> {
      const answer = await (await as(by)).ask('POST', `${tenantPath}/keys`, { project: project.id, ...body })
      expect(said(answer)).toBe('201')
      return {
        ...keyOf((answer.body as { secret: string }).secret),
        id: (answer.body as { key: { id: string } }).key.id,
      }
    },
    /** A published product that isn't assigned to any project. */
    publishProduct: (options: Parameters<typeof fixture.publishProduct>[0] = {}) =>
      fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n, ...options }),
    /** Asserts a refusal with the code and the resolution of the story. */
    refused(answer: Answer) {
      expect(said(answer)).toBe(`${refusals[code].status} ${code}`)
      const refusal = refusalIn(answer)!
      expect(refusal.resolution).toMatch(resolution)
      refusedAnswers.push(answer)
      return refusal
    },
    /** Asserts that our client types every refusal of the story with the fields that the service sent. */
    async areTypedByTheClient() {
      for (const answer of refusedAnswers) {
        const failure = failureOf(new Response(null, answer), answer.text)
        const { message, resolution, param, details = {} } = refusalIn(answer)!
        const requestId = answer.headers.get('x-request-id')
        expect(requestId).not.toBeNull()
        expect(failure).toBeInstanceOf(ApiRefusal)
        expect(failure).toMatchObject({ status: answer.status, code, message, resolution, param, details, requestId })
      }
    },
    succeeds(answer: Answer) {
      expect([200, 201, 204]).toContain(answer.status)
      return answer
    },
  }
}
