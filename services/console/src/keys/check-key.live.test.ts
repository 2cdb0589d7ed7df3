import { expect } from 'vitest'
import { admissionCheck } from '@gateway/api/admission-check'
import { consoleTest, outcomeOf } from '../console.fixture.ts'

const test = consoleTest.extend('counts', { scope: 'file' }, () => ({ gateways: 0, workers: 0 })) // the test registers the only gateway

test('checks what a call with a key would reserve or why it would be refused, for users who see the key and the wallet [not_permitted] [unavailable]', async ({
  stack,
  fixture,
}) => {
  const model = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
  await fixture.assign(stack.project, model)
  const limit = { micro: 50, reset: 'daily' }
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project, limit })).body
  const path = `${stack.path}/keys/${key.id}/check`
  const ask = async (maxTokens: number) =>
    admissionCheck.parse((await stack.owner.post(path, { model, promptBytes: 10, maxTokens })).body)
  expect(outcomeOf(await stack.owner.post(path, { model }))).toBe('503 unavailable') // without a gateway no call is possible
  await fixture.run(
    `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms)
     VALUES ('ins_1', 'gateway', now(), now() + interval '1 hour', 15000)`,
  )
  expect(await ask(20)).toMatchObject({ admitted: false, boundMicro: 20, refusal: { code: 'insufficient_budget' } })
  await fixture.fund(stack.project, 1_000n, 'first')
  expect(await ask(50)).toMatchObject({ admitted: true, boundMicro: 50, outputCap: 50, refusal: null })
  const refused = await ask(51)
  expect(refused).toMatchObject({ admitted: false, refusal: { code: 'key_limit', details: { neededMicro: 51 } } })
  expect(refused.rules).toContainEqual({ rule: 'limit', outcome: 'fail' })

  const admin = await stack.member({ tenant: 'Admin' }) // sees the key but not the wallet
  expect(outcomeOf(await admin.post(path, { model }))).toBe('403 not_permitted')
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect(outcomeOf(await viewer.post(path, { model }))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.post(path, { model: 'sbx-none' }))).toBe('400 invalid_request')
  await stack.owner.post(`${stack.path}/keys/${key.id}/revoke`)
  expect((await ask(20)).rules[0]).toEqual({ rule: 'key', outcome: 'fail' })
})

test('the check of a legacy key reports that it is not bound to a project [key_unbound]', async ({
  stack,
  fixture,
}) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const { body } = await stack.owner.post(`${stack.path}/keys/${legacy.id}/check`, { model: 'acme/none' })
  expect(admissionCheck.parse(body)).toMatchObject({ admitted: false, refusal: { code: 'key_unbound' } })
})
