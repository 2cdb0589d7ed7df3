import { describe, expect } from 'vitest'
import type { QuotaRecords } from '@gateway/api/quotas'
import { refusals } from '@gateway/api/refusals'
import { appCode } from './src/app-code.ts'
import { answerOf, callerAt, sessionSetBy } from './src/caller.ts'
import { flowResolutions } from './src/flow-resolutions.ts'
import { liveStackTest } from './src/live-stack-test.ts'
import { chat, type TenantFixture } from './src/stack.ts'
import { windowPasses } from './src/meters.ts'
import { openResolutionContext, type ResolutionContext } from './src/resolution-context.ts'

// Every refusal names its resolution (rules §2.1). Each test provokes a 402, 403 or 422, follows its resolution through the API, and
// then succeeds. The client for programs types each refusal.

/** One code and one of the actions that its resolution names. */
interface ResolutionStory {
  code: keyof typeof refusals
  resolution: RegExp
  story: (context: ResolutionContext) => Promise<void>
}

const assignmentOf = ({ projectPath }: ResolutionContext, product: string) =>
  `${projectPath}/assignments/${encodeURIComponent(product)}`

/** Has a call reserve most of 400 micro-USD, then makes another that is refused until the first one settles. */
async function refusedWhileOneRuns(
  { stack, refused, succeeds }: ResolutionContext,
  caller: Pick<TenantFixture, 'key' | 'model'>,
): Promise<void> {
  const { control } = stack.provider
  const prompt = `Running ${caller.key.id}`
  await control.setFaults([{ prompt, hold: true }])
  const call = (max_tokens: number) =>
    chat(stack, caller, { body: { max_tokens, messages: [{ role: 'user', content: prompt }] } })
  const running = call(200)
  await control.waitForCalls(1, { prompt })
  refused(await answerOf(await call(100)))
  await control.clearFaults()
  await control.release()
  succeeds(await answerOf(await running))
  succeeds(await answerOf(await call(100)))
}

const resolutions: ResolutionStory[] = [
  {
    code: 'key_issuer_denied',
    resolution:
      /organization membership.*role in the team.*project role.*An Admin can restore the first two and a Project Owner the third/,
    async story({ fixture, tenant, tenantPath, projectPath, users, as, invite, refused, succeeds, call, keyOf }) {
      const user = await fixture.user()
      const issue = async () => (await as(user)).ask('POST', `${tenantPath}/keys`, { project: tenant.project.id })
      succeeds(await invite(user))
      refused(await issue())
      succeeds(await users.admin.ask('POST', `${tenantPath}/teams/${tenant.project.team}/members`, { user }))
      refused(await issue())
      succeeds(await users.owner.ask('POST', `${projectPath}/grants`, { user, role: 'Project Viewer' }))
      refused(await issue())
      succeeds(await users.owner.ask('POST', `${projectPath}/grants`, { user, role: 'Project Consumer' }))
      const made = succeeds(await issue())
      succeeds(await call(keyOf((made.body as { secret: string }).secret)))
    },
  },
  {
    code: 'key_issuer_denied',
    resolution: /An Admin can restore the first two and a Project Owner the third/,
    async story({ fixture, tenant, tenantPath, projectPath, users, invite, refused, succeeds, call }) {
      const by = await fixture.issuer(tenant.project)
      const key = await fixture.key({ project: tenant.project, by })
      const team = `${tenantPath}/teams/${tenant.project.team}/members`
      for (const [who, taken, given, body] of [
        ['owner', `${projectPath}/grants/${by}`, `${projectPath}/grants`, { user: by, role: 'Project Owner' }],
        ['admin', `${team}/${by}`, team, { user: by }],
      ] as const) {
        succeeds(await call(key))
        succeeds(await users[who].ask('DELETE', taken))
        refused(await call(key))
        succeeds(await users[who].ask('POST', given, body))
        succeeds(await call(key))
      }
      succeeds(await users.admin.ask('DELETE', `${tenantPath}/members/${by}`))
      refused(await call(key))
      succeeds(await invite(by))
      succeeds(await users.admin.ask('POST', team, { user: by }))
      refused(await call(key))
      succeeds(await users.owner.ask('POST', `${projectPath}/grants`, { user: by, role: 'Project Owner' }))
      succeeds(await call(key))
    },
  },
  {
    code: 'key_issuer_denied',
    resolution: /any user who has all three can issue a new key/,
    async story({ tenant, tenantPath, users, issue, refused, succeeds, call }) {
      refused(await users.admin.ask('POST', `${tenantPath}/keys`, { project: tenant.project.id })) // only an Admin
      succeeds(await call(await issue()))
    },
  },
  {
    code: 'project_mismatch',
    resolution: /Remove X-Service-Project, X-Project-ID and project_id/,
    async story({ refused, succeeds, call, tenant }) {
      const other = 'prj_other'
      refused(await call(tenant.key, { headers: { 'x-service-project': other } }))
      refused(await call(tenant.key, { headers: { 'x-project-id': other } }))
      refused(await call(tenant.key, { body: { project_id: other } }))
      succeeds(await call())
    },
  },
  {
    code: 'project_mismatch',
    resolution: /use a key of the project they name/,
    async story({ stack, refused, succeeds, call, tenant }) {
      const other = await stack.tenant(1_000_000n)
      const headers = { 'x-service-project': other.project.id }
      refused(await call(tenant.key, { headers, model: other.model }))
      succeeds(await call(other.key, { headers, model: other.model }))
    },
  },
  {
    code: 'key_unbound',
    resolution: /Create a new key for a project in the console, where this one is shown as Needs reissue/,
    async story({ fixture, tenant, tenantPath, users, issue, refused, succeeds, call }) {
      const legacy = await fixture.key({ project: null, tenant: tenant.project.tenant, by: tenant.owner })
      refused(await call(legacy))
      const shown = await users.owner.ask('GET', `${tenantPath}/keys/${legacy.id}`)
      expect(shown.body).toMatchObject({ state: 'NeedsReissue', project: null })
      succeeds(await call(await issue()))
    },
  },
  {
    code: 'rotation_forbidden',
    resolution: /Ask a user who may manage this key to rotate it in the console/,
    async story({ stack, tenant, tenantPath, projectPath, users, keyOf, refused, succeeds, call }) {
      const path = `${tenantPath}/keys/${tenant.key.id}/rotate`
      succeeds(await users.owner.ask('PATCH', projectPath, { keySelfRotation: false }))
      refused(await callerAt(stack.gateways[0]!.url, tenant.key.secret).ask('POST', path))
      succeeds(await call())
      const rotated = succeeds(await users.owner.ask('POST', path))
      succeeds(await call(keyOf((rotated.body as { secret: string }).secret)))
    },
  },
  {
    code: 'rotation_forbidden',
    resolution: /ask a Project Owner to let keys of the project rotate themselves/,
    async story({ stack, tenant, tenantPath, projectPath, users, keyOf, refused, succeeds, call }) {
      const rotate = () =>
        callerAt(stack.gateways[0]!.url, tenant.key.secret).ask('POST', `${tenantPath}/keys/${tenant.key.id}/rotate`)
      succeeds(await users.owner.ask('PATCH', projectPath, { keySelfRotation: false }))
      refused(await rotate())
      succeeds(await users.owner.ask('PATCH', projectPath, { keySelfRotation: true }))
      succeeds(await call(keyOf((succeeds(await rotate()).body as { secret: string }).secret)))
    },
  },
  {
    code: 'key_scope',
    resolution: /Call a resource on the allowlist of the key, or create a key that allows this one/,
    async story(context) {
      const { users, publishProduct, issue, refused, succeeds, call, tenant } = context
      const other = await publishProduct()
      succeeds(await users.admin.ask('PUT', assignmentOf(context, other)))
      const key = await issue({ policy: 'listed', resources: [other] })
      refused(await call(key))
      succeeds(await call(key, { model: other }))
      succeeds(await call(await issue({ policy: 'listed', resources: [other, tenant.model] })))
    },
  },
  {
    code: 'key_limit',
    resolution: /create a key with a higher limit/i,
    async story({ issue, refused, succeeds, call }) {
      for (const reset of ['daily', 'lifetime']) {
        const { details } = refused(await call(await issue({ limit: { micro: 1, reset } })))
        const { neededMicro } = details as { neededMicro: number }
        succeeds(await call(await issue({ limit: { micro: neededMicro, reset } })))
      }
    },
  },
  {
    code: 'key_limit',
    resolution: /Shorten the prompt, lower max_tokens/,
    async story({ issue, refused, succeeds, call }) {
      const key = await issue({ limit: { micro: 100, reset: 'lifetime' } })
      refused(await call(key, { body: { max_tokens: 1_000 } }))
      succeeds(await call(key, { body: { max_tokens: 1 } }))
    },
  },
  {
    code: 'key_limit',
    resolution: /wait until the limit resets at \d{4}-\d\d-\d\dT00:00:00Z/i,
    async story({ stack, issue, refused, succeeds, call }) {
      for (const reset of ['daily', 'weekly', 'monthly'] as const) {
        const key = await issue({ limit: { micro: 150, reset } })
        succeeds(await call(key))
        refused(await call(key))
        await windowPasses(stack, key.id, reset)
        succeeds(await call(key))
      }
    },
  },
  {
    code: 'key_limit',
    resolution: /Wait until running calls settle, or create a key with a higher limit/,
    async story(context) {
      const key = await context.issue({ limit: { micro: 400, reset: 'daily' } })
      await refusedWhileOneRuns(context, { key, model: context.tenant.model })
    },
  },
  {
    code: 'key_paused',
    resolution: /Resume it in the console/,
    async story({ users, tenantPath, issue, refused, succeeds, call }) {
      const key = await issue()
      succeeds(await users.owner.ask('POST', `${tenantPath}/keys/${key.id}/pause`))
      refused(await call(key))
      succeeds(await users.owner.ask('POST', `${tenantPath}/keys/${key.id}/resume`))
      succeeds(await call(key))
    },
  },
  {
    code: 'tag_mismatch',
    resolution: /Remove X-Service-Tag, or use a key without a tag/,
    async story({ issue, refused, succeeds, call }) {
      const headers = { 'x-service-tag': 'chat' }
      const key = await issue({ tag: 'nightly' })
      refused(await call(key, { headers }))
      succeeds(await call(key))
      succeeds(await call(await issue(), { headers }))
    },
  },
  {
    code: 'budget_reached',
    resolution: /lower max_tokens, or ask an Admin of the organization to raise the budget/,
    async story({ users, tenantPath, issue, refused, succeeds, call }) {
      const set = (limitMicro: number) =>
        users.admin.ask('PUT', `${tenantPath}/budgets`, { kind: 'tag', subject: 'nightly', limitMicro, hard: true })
      const key = await issue({ tag: 'nightly' })
      succeeds(await set(100))
      refused(await call(key, { body: { max_tokens: 1_000 } }))
      succeeds(await call(key, { body: { max_tokens: 1 } }))
      succeeds(await set(1_000_000))
      succeeds(await call(key, { body: { max_tokens: 1_000 } }))
    },
  },
  {
    code: 'budget_reached',
    resolution:
      /wait until the budget resets at \d{4}-\d\d-01T00:00:00Z, or ask an Admin of the organization to raise the budget/,
    async story({ users, tenant, tenantPath, refused, succeeds, call }) {
      const set = (limitMicro: number) =>
        users.admin.ask('PUT', `${tenantPath}/budgets`, {
          kind: 'team',
          subject: tenant.project.team,
          limitMicro,
          hard: true,
        })
      succeeds(await set(150))
      succeeds(await call())
      refused(await call())
      succeeds(await set(1_000_000))
      succeeds(await call())
    },
  },
  {
    code: 'budget_reached',
    resolution: /Wait until running calls settle, or ask an Admin of the organization to raise the budget/,
    async story(context) {
      const { users, tenant, tenantPath, succeeds } = context
      const budget = { kind: 'team', subject: tenant.project.team, limitMicro: 400, hard: true }
      succeeds(await users.admin.ask('PUT', `${tenantPath}/budgets`, budget))
      await refusedWhileOneRuns(context, tenant)
    },
  },
  {
    code: 'quota_reached',
    resolution: /Revoke keys that are no longer used, or ask the platform operator to raise the quota of the project/,
    async story({ users, tenantPath, projectPath, tenant, refused, succeeds }) {
      const issue = () => users.owner.ask('POST', `${tenantPath}/keys`, { project: tenant.project.id })
      const made = succeeds(await issue())
      const { body } = succeeds(await users.owner.ask('GET', `${projectPath}/quotas`))
      const { used } = (body as QuotaRecords).quotas.find(({ quota }) => quota === 'keys')!
      succeeds(await users.operator.ask('PATCH', `${projectPath}/quotas`, { keys: used }))
      refused(await issue())
      const { id } = (made.body as { key: { id: string } }).key
      succeeds(await users.owner.ask('POST', `${tenantPath}/keys/${id}/revoke`))
      succeeds(await issue())
      refused(await issue())
      succeeds(await users.operator.ask('PATCH', `${projectPath}/quotas`, { keys: used + 1 }))
      succeeds(await issue())
    },
  },
  {
    code: 'not_permitted',
    resolution: /Ask a user with the role Admin of the organization to do this or to grant it to you/,
    async story(context) {
      const { fixture, users, tenantPath, as, publishProduct, refused, succeeds, call, tenant } = context
      const [first, second] = [await publishProduct(), await publishProduct()]
      const user = await fixture.issuer(tenant.project)
      const member = await as(user)
      refused(await member.ask('PUT', assignmentOf(context, first)))
      succeeds(await users.admin.ask('PUT', assignmentOf(context, first)))
      succeeds(await call(tenant.key, { model: first }))
      succeeds(await users.admin.ask('PATCH', `${tenantPath}/members/${user}`, { role: 'Admin' }))
      succeeds(await member.ask('PUT', assignmentOf(context, second)))
      succeeds(await call(tenant.key, { model: second }))
    },
  },
  {
    code: 'not_permitted',
    resolution: /Ask a user with the platform operator role to do this/,
    async story({ users, projectPath, refused, succeeds }) {
      const funding = { fundingId: 'invoice-1', micro: 1_000 }
      refused(await users.owner.ask('POST', `${projectPath}/wallet/fundings`, funding))
      succeeds(await users.operator.ask('POST', `${projectPath}/wallet/fundings`, funding))
    },
  },
  {
    code: 'scope_missing',
    resolution: /Create a personal token with keys:write on your account page, or sign in and do this in the console/,
    async story({ stack, fixture, tenant, tenantPath, refused, succeeds }) {
      const { url } = stack.gateways[0]!
      const issue = (secret: string) =>
        callerAt(url, secret).ask('POST', `${tenantPath}/keys`, { project: tenant.project.id })
      refused(await issue((await fixture.token(tenant.owner, { scopes: ['keys:read'] })).secret))
      const session = (await fixture.session(tenant.owner)).secret
      const body = { name: 'CI', scopes: ['keys:write'] }
      const made = succeeds(await callerAt(url, session).ask('POST', '/api/v2/me/tokens', body))
      succeeds(await issue((made.body as { secret: string }).secret))
      succeeds(await issue(session))
    },
  },
  {
    code: 'session_required',
    resolution: /Sign in at POST \/api\/v2\/session or in the console, and send the session cookie instead/,
    async story({ stack, fixture, tenant, users, refused, succeeds }) {
      const create = (caller: typeof users.owner) => caller.ask('POST', '/api/v2/me/tokens', { name: 'CI' })
      refused(await create(users.owner))
      succeeds(await create(callerAt(stack.gateways[0]!.url, (await fixture.session(tenant.owner)).secret)))
    },
  },
  {
    code: 'second_factor_required',
    resolution:
      /Set up an authenticator app on your account page, or sign in with its code\. A personal token works if it was created in such a session/,
    async story({ stack, fixture, tenant, tenantPath, users, refused, succeeds }) {
      const change = 'UPDATE control.tenants SET require_second_factor = true WHERE id = $1'
      await fixture.run(change, [tenant.project.tenant])
      const { url } = stack.gateways[0]!
      const session = callerAt(url, (await fixture.session(tenant.owner)).secret)
      const list = (caller: typeof session) => caller.ask('GET', `${tenantPath}/members`)
      refused(await list(users.owner))
      refused(await list(session))
      const setUp = succeeds(await session.ask('POST', '/api/v2/me/second-factor', {}))
      const code = appCode((setUp.body as { secret: string }).secret)
      const confirmed = succeeds(await session.ask('POST', '/api/v2/me/second-factor/confirm', { code }))
      const renewed = callerAt(url, sessionSetBy(confirmed))
      succeeds(await list(renewed))
      const scopes = ['organization:read']
      const made = succeeds(await renewed.ask('POST', '/api/v2/me/tokens', { name: 'CI', scopes }))
      succeeds(await list(callerAt(url, (made.body as { secret: string }).secret)))
    },
  },
  {
    code: 'insufficient_budget',
    resolution: /Ask the platform operator to add funds to the project/,
    async story({ stack, fixture, users, tenant, refused, succeeds, call }) {
      const project = await fixture.project({
        tenant: tenant.project.tenant,
        team: tenant.project.team,
        owner: tenant.owner,
      })
      await fixture.assign(project.id, tenant.model)
      const key = await fixture.key({ project, by: tenant.owner })
      const { details } = refused(await call(key))
      expect(details).toMatchObject({ availableMicro: 0, reservedMicro: 0, affordableMaxTokens: 0 })
      const path = `/api/v2/tenants/${project.tenant}/projects/${project.id}/wallet/fundings`
      const micro = (details as { neededMicro: number }).neededMicro
      succeeds(await users.operator.ask('POST', path, { fundingId: 'invoice-1', micro }))
      succeeds(await call(key))
      expect((await stack.wallet(project.id)).available).toBeGreaterThanOrEqual(0n)
    },
  },
  {
    code: 'insufficient_budget',
    resolution: /set max_tokens to \d+ or less/,
    async story({ stack, refused, succeeds }) {
      const poor = await stack.tenant(2_000n)
      const ask = async (maxTokens: number) => answerOf(await chat(stack, poor, { body: { max_tokens: maxTokens } }))
      const { details } = refused(await ask(8_000))
      const { affordableMaxTokens } = details as { affordableMaxTokens: number }
      refused(await ask(affordableMaxTokens + 1))
      succeeds(await ask(affordableMaxTokens))
    },
  },
  {
    code: 'insufficient_budget',
    resolution: /wait until running calls settle/,
    async story(context) {
      await refusedWhileOneRuns(context, await context.stack.tenant(400n))
    },
  },
  {
    code: 'project_required',
    resolution: /Send the ID of the project .* as `project`/,
    async story({ users, tenantPath, tenant, refused, succeeds, call, keyOf }) {
      refused(await users.owner.ask('POST', `${tenantPath}/keys`, { name: 'CI' }))
      const made = succeeds(
        await users.owner.ask('POST', `${tenantPath}/keys`, { name: 'CI', project: tenant.project.id }),
      )
      succeeds(await call(keyOf((made.body as { secret: string }).secret)))
    },
  },
  {
    code: 'resource_not_eligible',
    resolution: /List only products assigned to the project/,
    async story(context) {
      const { users, tenantPath, tenant, publishProduct, refused, issue, succeeds, call } = context
      const other = await publishProduct()
      const asked = { project: tenant.project.id, policy: 'listed', resources: [tenant.model, other] }
      const { details } = refused(await users.owner.ask('POST', `${tenantPath}/keys`, asked))
      expect(details).toEqual({ resources: [other] })
      succeeds(await call(await issue({ policy: 'listed', resources: [tenant.model] })))
      succeeds(await users.admin.ask('PUT', assignmentOf(context, other))) // or assign it
      succeeds(await call(await issue(asked), { model: other }))
    },
  },
  {
    code: 'context_limit',
    resolution: /Shorten the messages or lower max_tokens/,
    async story(context) {
      const { users, publishProduct, refused, succeeds, call, tenant } = context
      const model = await publishProduct({ contextLength: 1_000, maxOutputTokens: 500 })
      succeeds(await users.admin.ask('PUT', assignmentOf(context, model)))
      const ask = (length: number, max_tokens: number) =>
        call(tenant.key, { model, body: { max_tokens, messages: [{ role: 'user', content: 'x'.repeat(length) }] } })
      const { details } = refused(await ask(10, 501))
      succeeds(await ask(10, (details as { maxOutputTokens: number }).maxOutputTokens))
      refused(await ask(20_000, 100))
      succeeds(await ask(200, 100))
    },
  },
  {
    code: 'idempotency_mismatch',
    resolution: /Send the original request again, or use a new Idempotency-Key/,
    async story({ refused, succeeds, call, tenant }) {
      const ask = (key: string, temperature: number) =>
        call(tenant.key, { headers: { 'idempotency-key': key }, body: { temperature } })
      const first = succeeds(await ask('first-key', 0))
      refused(await ask('first-key', 1))
      expect(succeeds(await ask('first-key', 0)).text).toBe(first.text)
      succeeds(await ask('other-key', 1))
    },
  },
  {
    code: 'answer_not_kept',
    resolution: /Use a new Idempotency-Key to make a new call\. It is charged separately/,
    async story({ stack, refused, succeeds, call, tenant }) {
      const prompt = `Long ${tenant.project.id}`
      const choices = [{ message: { role: 'assistant', content: 'x'.repeat(1_200_000) } }]
      const usage = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 }
      await stack.provider.control.setFaults([{ prompt, times: 1, status: 200, body: { choices, usage } }])
      const ask = (key: string) =>
        call(tenant.key, {
          headers: { 'idempotency-key': key },
          body: { messages: [{ role: 'user', content: prompt }] },
        })
      expect(succeeds(await ask('first-key')).text.length).toBeGreaterThan(1_200_000)
      refused(await ask('first-key'))
      succeeds(await ask('other-key'))
    },
  },
]

describe('refusal resolutions', () => {
  for (const { code, resolution, story } of [...resolutions, ...flowResolutions])
    // spec: 1/s7, 2.1/r5, 4.4/s1, 5/s13, 7/r16, 7/r17, 7/s3
    liveStackTest(`following “${resolution.source}” clears the refusal [${code}]`, async ({ stack }) => {
      const context = await openResolutionContext(stack, resolution, code)
      await story(context)
      await context.areTypedByTheClient()
    })

  // spec: 7/s3
  liveStackTest('a resolution is tested for every 402, 403 and 422', () => {
    const codes = Object.entries(refusals).filter(([, { status }]) => [402, 403, 422].includes(status))
    const tried = new Set<string>([...resolutions, ...flowResolutions].map(({ code }) => code))
    expect(codes.map(([code]) => code).filter((code) => !tried.has(code))).toEqual([])
  })
})
