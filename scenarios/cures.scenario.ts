import { describe, expect } from 'vitest'
import { refusals } from '@gateway/contracts/refusals'
import { answerOf } from './src/caller.ts'
import { flowCures } from './src/flow-cures.ts'
import { houseTest } from './src/house-test.ts'
import { chat } from './src/house.ts'
import { windowPasses } from './src/meters.ts'
import { openTown, type Town } from './src/town.ts'

// Every refusal names what clears it (spec 7, rule 1). Here each 402, 403 and 422 is provoked, what its resolution says is
// done through the API, and then the call succeeds.

/** One code, and each way out that its resolution names, in its words. */
interface Cure {
  code: keyof typeof refusals
  way: RegExp
  story: (town: Town) => Promise<void>
}

const assignmentOf = ({ projectPath }: Town, product: string) =>
  `${projectPath}/assignments/${encodeURIComponent(product)}`

const cures: Cure[] = [
  {
    code: 'key_issuer_denied',
    way: /membership of the organization.*role in the team.*grant on the project.*an administrator can restore them/,
    async story({ world, shop, tenant, projectPath, people, as, refused, succeeds, call, keyOf }) {
      const person = await world.person()
      const issue = async () => (await as(person)).ask('POST', `${tenant}/keys`, { project: shop.project.id })
      const { rows } = await world.run('SELECT email FROM control.people WHERE id = $1', [person])
      const [{ email }] = rows as [{ email: string }]
      succeeds(await people.admin.ask('POST', `${tenant}/members`, { email }))
      refused(await issue())
      succeeds(await people.admin.ask('POST', `${tenant}/teams/${shop.project.team}/members`, { person }))
      refused(await issue())
      succeeds(await people.admin.ask('POST', `${projectPath}/grants`, { person, role: 'Project Viewer' }))
      refused(await issue())
      succeeds(await people.admin.ask('POST', `${projectPath}/grants`, { person, role: 'Project Consumer' }))
      const made = succeeds(await issue())
      succeeds(await call(keyOf((made.body as { secret: string }).secret)))
    },
  },
  {
    code: 'key_issuer_denied',
    way: /an administrator can restore them/,
    async story({ world, shop, tenant, projectPath, people, refused, succeeds, call }) {
      const by = await world.issuer(shop.project)
      const key = await world.key({ project: shop.project, by })
      const { rows } = await world.run('SELECT email FROM control.people WHERE id = $1', [by])
      const [{ email }] = rows as [{ email: string }]
      const team = `${tenant}/teams/${shop.project.team}/members`
      for (const [taken, given, body] of [
        [`${projectPath}/grants/${by}`, `${projectPath}/grants`, { person: by, role: 'Project Owner' }],
        [`${team}/${by}`, team, { person: by }],
        [`${tenant}/members/${by}`, `${tenant}/members`, { email }],
      ] as const) {
        succeeds(await call(key))
        succeeds(await people.admin.ask('DELETE', taken))
        refused(await call(key))
        succeeds(await people.admin.ask('POST', given, body))
        succeeds(await call(key))
      }
    },
  },
  {
    code: 'key_issuer_denied',
    way: /somebody who holds all three can issue a key/,
    async story({ shop, tenant, people, issue, refused, succeeds, call }) {
      refused(await people.admin.ask('POST', `${tenant}/keys`, { project: shop.project.id })) // an Admin, and nothing else
      succeeds(await call(await issue()))
    },
  },
  {
    code: 'project_mismatch',
    way: /Leave out X-Service-Project, X-Project-ID and project_id/,
    async story({ refused, succeeds, call, shop }) {
      const other = 'prj_other'
      refused(await call(shop.key, { headers: { 'x-service-project': other } }))
      refused(await call(shop.key, { headers: { 'x-project-id': other } }))
      refused(await call(shop.key, { body: { project_id: other } }))
      succeeds(await call())
    },
  },
  {
    code: 'project_mismatch',
    way: /use a key of the project that they name/,
    async story({ house, refused, succeeds, call, shop }) {
      const other = await house.shop(1_000_000n)
      const headers = { 'x-service-project': other.project.id }
      refused(await call(shop.key, { headers, model: other.model }))
      succeeds(await call(other.key, { headers, model: other.model }))
    },
  },
  {
    code: 'key_unbound',
    way: /Create a new key for a project in the console; the console shows this one as Needs reissue/,
    async story({ world, shop, tenant, people, issue, refused, succeeds, call }) {
      const legacy = await world.key({ project: null, tenant: shop.project.tenant, by: shop.owner })
      refused(await call(legacy))
      const shown = await people.owner.ask('GET', `${tenant}/keys/${legacy.id}`)
      expect(shown.body).toMatchObject({ state: 'NeedsReissue', project: null })
      succeeds(await call(await issue()))
    },
  },
  {
    code: 'key_scope',
    way: /Call a resource that the key lists, or create a key whose allowlist contains this one/,
    async story(town) {
      const { people, sell, issue, refused, succeeds, call, shop } = town
      const other = await sell()
      succeeds(await people.admin.ask('PUT', assignmentOf(town, other)))
      const key = await issue({ policy: 'listed', resources: [other] })
      refused(await call(key))
      succeeds(await call(key, { model: other }))
      succeeds(await call(await issue({ policy: 'listed', resources: [other, shop.model] })))
    },
  },
  {
    code: 'key_limit',
    way: /issue a key with a higher limit/i,
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
    way: /Wait until the window resets at \d{4}-\d\d-\d\dT00:00:00Z/,
    async story({ house, issue, refused, succeeds, call }) {
      for (const reset of ['daily', 'weekly', 'monthly'] as const) {
        const key = await issue({ limit: { micro: 150, reset } })
        succeeds(await call(key))
        refused(await call(key))
        await windowPasses(house, key.id, reset)
        succeeds(await call(key))
      }
    },
  },
  {
    code: 'not_permitted',
    way: /Ask somebody who has the role Admin of the organization to do this, or to give it to you/,
    async story(town) {
      const { world, people, tenant, as, sell, refused, succeeds, call, shop } = town
      const [first, second] = [await sell(), await sell()]
      const person = await world.issuer(shop.project)
      const member = await as(person)
      refused(await member.ask('PUT', assignmentOf(town, first)))
      succeeds(await people.admin.ask('PUT', assignmentOf(town, first)))
      succeeds(await call(shop.key, { model: first }))
      const { rows } = await world.run('SELECT email FROM control.people WHERE id = $1', [person])
      const [{ email }] = rows as [{ email: string }]
      succeeds(await people.admin.ask('POST', `${tenant}/members`, { email, role: 'Admin' }))
      succeeds(await member.ask('PUT', assignmentOf(town, second)))
      succeeds(await call(shop.key, { model: second }))
    },
  },
  {
    code: 'not_permitted',
    way: /Ask somebody who has the platform operator role to do this/,
    async story({ people, projectPath, refused, succeeds }) {
      const funding = { fundingId: 'invoice-1', micro: 1_000 }
      refused(await people.owner.ask('POST', `${projectPath}/wallet/fundings`, funding))
      succeeds(await people.operator.ask('POST', `${projectPath}/wallet/fundings`, funding))
    },
  },
  {
    code: 'insufficient_budget',
    way: /Ask the platform operator to fund the project/,
    async story({ house, world, people, shop, refused, succeeds, call }) {
      const project = await world.project({ tenant: shop.project.tenant, team: shop.project.team, owner: shop.owner })
      await world.assign(project.id, shop.model)
      const key = await world.key({ project, by: shop.owner })
      const { details } = refused(await call(key))
      expect(details).toMatchObject({ availableMicro: 0, reservedMicro: 0, affordableMaxTokens: 0 })
      const path = `/api/v2/tenants/${project.tenant}/projects/${project.id}/wallet/fundings`
      const micro = (details as { neededMicro: number }).neededMicro
      succeeds(await people.operator.ask('POST', path, { fundingId: 'invoice-1', micro }))
      succeeds(await call(key))
      expect((await house.wallet(project.id)).available).toBeGreaterThanOrEqual(0n)
    },
  },
  {
    code: 'insufficient_budget',
    way: /ask for at most \d+ max_tokens/,
    async story({ house, refused, succeeds }) {
      const poor = await house.shop(2_000n)
      const ask = async (maxTokens: number) => answerOf(await chat(house, poor, { body: { max_tokens: maxTokens } }))
      const { details } = refused(await ask(8_000))
      const { affordableMaxTokens } = details as { affordableMaxTokens: number }
      refused(await ask(affordableMaxTokens + 1))
      succeeds(await ask(affordableMaxTokens))
    },
  },
  {
    code: 'insufficient_budget',
    way: /wait until running calls settle/,
    async story({ house, refused, succeeds }) {
      const poor = await house.shop(400n)
      const prompt = `Running ${poor.project.id}`
      await house.origin.control.setFaults([{ prompt, hold: true }])
      const call = (max_tokens: number) =>
        chat(house, poor, { body: { max_tokens, messages: [{ role: 'user', content: prompt }] } })
      const running = call(200)
      await house.origin.control.waitForCalls(1, { prompt })
      refused(await answerOf(await call(100)))
      await house.origin.control.clearFaults()
      await house.origin.control.release()
      succeeds(await answerOf(await running))
      succeeds(await answerOf(await call(100)))
    },
  },
  {
    code: 'project_required',
    way: /Send the id of the project .* as `project`/,
    async story({ people, tenant, shop, refused, succeeds, call, keyOf }) {
      refused(await people.owner.ask('POST', `${tenant}/keys`, { name: 'CI' }))
      const made = succeeds(await people.owner.ask('POST', `${tenant}/keys`, { name: 'CI', project: shop.project.id }))
      succeeds(await call(keyOf((made.body as { secret: string }).secret)))
    },
  },
  {
    code: 'resource_not_eligible',
    way: /List only products that are assigned to the project/,
    async story(town) {
      const { people, tenant, shop, sell, refused, issue, succeeds, call } = town
      const other = await sell()
      const asked = { project: shop.project.id, policy: 'listed', resources: [shop.model, other] }
      const { details } = refused(await people.owner.ask('POST', `${tenant}/keys`, asked))
      expect(details).toEqual({ resources: [other] })
      succeeds(await call(await issue({ policy: 'listed', resources: [shop.model] })))
      succeeds(await people.admin.ask('PUT', assignmentOf(town, other))) // or let it be assigned
      succeeds(await call(await issue(asked), { model: other }))
    },
  },
  {
    code: 'context_limit',
    way: /Shorten the messages, or ask for a smaller max_tokens/,
    async story(town) {
      const { people, sell, refused, succeeds, call, shop } = town
      const model = await sell({ contextLength: 1_000, maxOutputTokens: 500 })
      succeeds(await people.admin.ask('PUT', assignmentOf(town, model)))
      const ask = (length: number, max_tokens: number) =>
        call(shop.key, { model, body: { max_tokens, messages: [{ role: 'user', content: 'x'.repeat(length) }] } })
      const { details } = refused(await ask(10, 501))
      succeeds(await ask(10, (details as { maxOutputTokens: number }).maxOutputTokens))
      refused(await ask(20_000, 100))
      succeeds(await ask(200, 100))
    },
  },
  {
    code: 'idempotency_mismatch',
    way: /Send the same request as before, or a new Idempotency-Key/,
    async story({ refused, succeeds, call, shop }) {
      const ask = (key: string, temperature: number) =>
        call(shop.key, { headers: { 'idempotency-key': key }, body: { temperature } })
      const first = succeeds(await ask('first-key', 0))
      refused(await ask('first-key', 1))
      expect(succeeds(await ask('first-key', 0)).text).toBe(first.text)
      succeeds(await ask('other-key', 1))
    },
  },
  {
    code: 'answer_not_kept',
    way: /Send a new Idempotency-Key to make a new call, which is charged separately/,
    async story({ house, refused, succeeds, call, shop }) {
      const prompt = `Long ${shop.project.id}`
      const choices = [{ message: { role: 'assistant', content: 'x'.repeat(1_200_000) } }]
      const usage = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 }
      await house.origin.control.setFaults([{ prompt, times: 1, status: 200, body: { choices, usage } }])
      const ask = (key: string) =>
        call(shop.key, { headers: { 'idempotency-key': key }, body: { messages: [{ role: 'user', content: prompt }] } })
      expect(succeeds(await ask('first-key')).text.length).toBeGreaterThan(1_200_000)
      refused(await ask('first-key'))
      succeeds(await ask('other-key'))
    },
  },
]

describe('what clears a refusal', () => {
  for (const { code, way, story } of [...cures, ...flowCures])
    houseTest(`${way.source} [${code}]`, async ({ house }) => {
      await story(await openTown(house, way, code))
    })

  houseTest('is tried for every 402, 403 and 422', () => {
    const codes = Object.entries(refusals).filter(([, { status }]) => [402, 403, 422].includes(status))
    const tried = new Set<string>([...cures, ...flowCures].map(({ code }) => code))
    expect(codes.map(([code]) => code).filter((code) => !tried.has(code))).toEqual([])
  })
})
