import { expect } from 'vitest'
import { stackTest } from '../stack.fixture.ts'

const test = stackTest.extend('reported', ({ tenant, fixture }) => async (howMany: number) => {
  const read = async () =>
    (
      await fixture.run(
        `SELECT h.key, h.code, h.count::int, l.model, l.request
           FROM money.refusal_hours h LEFT JOIN money.latest_refusals l USING (project, key, code)
          WHERE h.project = $1 ORDER BY h.code`,
        [tenant.project],
      )
    ).rows
  await expect.poll(async () => (await read()).length, { timeout: 10_000 }).toBe(howMany)
  return read()
})

test('records the refusals of a key by the gateway and by the ledger [invalid_request, model_not_found]', async ({
  tenant,
  reported,
}) => {
  const answers = [await tenant.chat({ temperature: 9 }), await tenant.chat({ model: 'acme/none' })]
  expect(answers.map(({ status }) => status)).toEqual([400, 404])
  const [invalid, unknown] = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(await reported(2)).toEqual([
    { key: expect.any(String), code: 'invalid_request', count: 1, model: null, request: invalid },
    { key: expect.any(String), code: 'model_not_found', count: 1, model: 'acme/none', request: unknown },
  ])
})

test('records the refusal of a revoked key for its project, without a model [key_revoked]', async ({
  tenant,
  reported,
}) => {
  const revoked = await tenant.key({ revoked: true })
  const answer = await tenant.chat({}, { headers: { authorization: `Bearer ${revoked.secret}` } })
  expect(answer.status).toBe(401)
  expect(await reported(1)).toMatchObject([{ key: revoked.id, code: 'key_revoked', model: null }]) // its body was not read
})

test('records a refused invocation with the sandbox product that it names [sandbox_not_found]', async ({
  tenant,
  reported,
}) => {
  const answer = await fetch(`${tenant.url}/v1/sandbox/sbx-none/invoke`, {
    method: 'POST',
    headers: { ...tenant.headers, 'idempotency-key': 'refused-1' },
    body: '{"input":{}}',
  })
  expect(answer.status).toBe(404)
  expect(await reported(1)).toMatchObject([{ code: 'sandbox_not_found', model: 'sbx-none' }])
})
