import { expect } from 'vitest'
import { ApiRefusal, chargeOfUsage, ExecutionFailed, Gateway, type Asset } from '@gateway/client'
import { openConsole } from '@gateway/client/console'
import { flows } from './src/mcp/flows.ts'
import { stackTest } from './src/stack-test.ts'
import { chat } from './src/stack.ts'

// Our client in a program with a key.

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

const test = stackTest.extend('program', async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000n)
  const url = stack.gateways[0]!.url
  const make = async (graph: ReturnType<typeof flows.echo>) => (await stack.fixture.sandbox(tenant.project, graph)).id
  return { ...tenant, url, make, gateway: new Gateway({ baseURL: url, apiKey: tenant.key.secret }) }
})

interface Prompt {
  prompt: string
}

test('runs, follows and estimates a flow, with the exact cost, and replays it under the same idempotency key', async ({
  program: { gateway, make, model, project },
  stack,
}) => {
  const flow = gateway.flow<Prompt, { text: string }>(await make(flows.chain(model)))
  const input = { prompt: 'Rain' }
  const { atMostMicro } = await flow.estimate(input)
  const options = { idempotencyKey: 'rain-of-today', maxMicro: atMostMicro }
  const { id, status, output, charged } = await flow.run(input, options)
  expect([status, typeof output.text]).toEqual(['Succeeded', 'string'])
  expect(charged).toEqual({
    micro: Number((await stack.wallet(project.id)).settled),
    usd: expect.stringMatching(/^0\.000/),
  })
  expect(charged.micro).toBeLessThanOrEqual(atMostMicro)
  expect(await flow.run(input, options)).toMatchObject({ id, charged })

  const lines = await Array.fromAsync(flow.follow(input, options))
  expect(lines.at(-1)).toMatchObject({ kind: 'complete', execution: { id } })
  expect(await Array.fromAsync(gateway.progress(id, { after: 1 }))).toEqual(lines.slice(2))
  const record = await gateway.execution(id)
  expect(record).toMatchObject({ id, chargedMicro: charged.micro })
  const calls = await Promise.all(record.childCalls.map((call) => gateway.invocation(call)))
  expect(calls.reduce((sum, { chargedMicro }) => sum + (chargedMicro ?? 0), 0)).toBe(charged.micro)
})

test('returns the resolution for an execution that exceeds its ceiling or is stopped [ceiling_reached] [execution_cancelled]', async ({
  program: { gateway, make, model },
  stack,
}) => {
  const flow = gateway.flow<Prompt>(await make(flows.chain(model)))
  const dear = await flow.run({ prompt: 'Rain' }, { maxMicro: 1 }).catch((error: unknown) => error)
  expect(dear).toBeInstanceOf(ExecutionFailed)
  expect(dear).toMatchObject({ code: 'ceiling_reached', charged: { micro: 0, usd: '0' } })
  expect((dear as ExecutionFailed).resolution).toMatch(/Set maxMicro to \d+ or higher/)

  const prompt = 'Held for the client'
  await stack.provider.control.setFaults([{ prompt, hold: true }])
  const lines = flow.follow({ prompt })
  const { value: first } = await lines.next()
  if (first?.kind !== 'admitted') throw new Error('the first line is not a line `admitted`')
  await stack.provider.control.waitForCalls(1, { prompt })
  expect((await flow.cancel(first.executionId)).error).toMatchObject({ code: 'execution_cancelled' })
  expect((await Array.fromAsync(lines)).at(-1)).toMatchObject({ kind: 'complete', execution: { status: 'Cancelled' } })
  await stack.provider.control.clearFaults()
  await stack.provider.control.release()
})

test('uploads an image and downloads it in full and by range', async ({ program: { gateway, make } }) => {
  const photo = await gateway.assets.upload(new Blob([PIXEL], { type: 'image/png' }))
  expect(photo).toEqual({ asset: expect.stringMatching(/^ast_/), mimeType: 'image/png', bytes: PIXEL.length })
  const mirror = gateway.flow<{ photo: Asset }, { photo: Asset }>(await make(flows.mirror()))
  const { output } = await mirror.run({ photo })
  expect(Buffer.from(await (await gateway.assets.download(output.photo)).arrayBuffer())).toEqual(PIXEL)
  const part = await gateway.assets.download(photo.asset, { range: 'bytes=0-3' })
  expect([part.status, await part.text()]).toEqual([206, PIXEL.subarray(0, 4).toString()])
})

test('reads the status of its key, the callable models, a call check, and the charge of a call', async ({
  program: { gateway, key, model, project },
  stack,
}) => {
  expect(await gateway.key()).toMatchObject({ project: project.id })
  expect((await gateway.models()).map(({ id }) => id)).toEqual([model])
  expect(await gateway.check({ model, maxTokens: 10 })).toMatchObject({ admitted: true })
  const answer = await chat(stack, { key, model })
  const { usage } = (await answer.json()) as { usage: object }
  const id = answer.headers.get('x-service-invocation')!
  await expect.poll(async () => (await gateway.invocation(id)).state).toBe('Settled')
  const { chargedMicro } = await gateway.invocation(id)
  expect(chargeOfUsage(usage)?.micro ?? chargedMicro).toBe(chargedMicro)
})

test('calls the console API with a token and returns refusals with their resolution [not_found] [token_invalid]', async ({
  program: { key, owner, project, url },
  stack,
}) => {
  const { secret } = await stack.fixture.token(owner)
  const api = openConsole({ baseURL: url, token: secret })
  const params = { tenant: project.tenant }
  const pages = await Array.fromAsync(
    api.pages('/api/v2/tenants/{tenant}/keys', { params, query: { project: project.id } }),
  )
  expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual([key.id])
  const nowhere = api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { ...params, key: 'key_none' } })
  await expect(nowhere).rejects.toBeInstanceOf(ApiRefusal)
  await expect(nowhere).rejects.toMatchObject({ code: 'not_found', resolution: expect.any(String) })
  const unknown = openConsole({ baseURL: url, token: `${secret.slice(0, -4)}0000` })
  await expect(unknown.ask('GET', '/api/v2/me')).rejects.toMatchObject({ code: 'token_invalid' })
})
