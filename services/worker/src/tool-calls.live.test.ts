import { expect } from 'vitest'
import { flow, newPrompt, nodeOf, side, stackTest as test } from './stack.fixture.ts'

// A chat node whose model calls tools (flows §2.3).

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
}
const forecast = { type: 'function', function: { name: 'forecast', parameters } }

/** Flow with `prompt` in, and the text and tool calls of the model out. */
function acting(product: string, params: object = { tools: [forecast] }) {
  const chat = { id: 'chat', kind: 'product.chat', product, params }
  const output = { ...side('text', ['calls', { type: 'object' }]), required: ['text'] }
  const edges = ['in.prompt>chat.prompt', 'chat.text>out.text', 'chat.tool_calls>out.calls']
  return flow(side('prompt'), output, [chat], ...edges)
}

test('the tool calls of a model are a value of the flow, with arguments as objects', async ({
  startWorker,
  tenant,
  stack,
}) => {
  await startWorker()
  const prompt = newPrompt()
  await stack.provider.control.setFaults([{ prompt, toolArguments: '{"city":"Bern","days":2}' }])
  const record = await tenant.run(acting(tenant.model), { prompt })
  const calls = [{ id: expect.stringMatching(/\w/) as string, name: 'forecast', arguments: { city: 'Bern', days: 2 } }]
  expect(record).toMatchObject({ status: 'Succeeded', output: { text: '', calls: { calls } } })
  expect(record.chargedMicro).toBeGreaterThan(0)
})

test('a node that needs a tool call is skipped if the model makes none', async ({ startWorker, tenant, stack }) => {
  await startWorker()
  const prompt = newPrompt()
  await stack.provider.control.setFaults([{ prompt, text: 'It rains.' }])
  const chat = { id: 'chat', kind: 'product.chat', product: tenant.model, params: { tools: [forecast] } }
  const city = { id: 'city', kind: 'expression', expression: 'asked.calls[0].arguments.city', type: 'string' }
  const output = { ...side('text', 'city'), required: ['text'] }
  const edges = ['in.prompt>chat.prompt', 'chat.text>out.text', 'chat.tool_calls>city.asked', 'city.value>out.city']
  const graph = flow(side('prompt'), output, [chat, city], ...edges)
  const talked = await tenant.run(graph, { prompt })
  expect(talked).toMatchObject({ status: 'Succeeded', output: { text: 'It rains.' } })
  expect(nodeOf(talked, 'city').status).toBe('Skipped')

  await stack.provider.control.setFaults([{ prompt, toolArguments: '{"city":"Bern"}' }])
  expect(await tenant.run(graph, { prompt })).toMatchObject({ status: 'Succeeded', output: { text: '', city: 'Bern' } })
})

test.for([
  ['are not JSON', '{"city":"Be', 'not a JSON object'],
  ['are not an object', '["Bern"]', 'not a JSON object'],
  ['lack a required field', '{"days":2}', 'city is missing'],
  ['have the wrong type', '{"city":7}', 'city must be of the type string'],
  ['violate a bound', '{"city":"Bern","days":0}', 'days breaks minimum'],
  ['have an extra field', '{"city":"Bern","zip":3000}', 'zip is not allowed'],
] as const)(
  'tool arguments that %s fail the node, which is charged [node_failed]',
  async ([, given, said], { startWorker, tenant, stack }) => {
    await startWorker()
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, toolArguments: given }])
    const record = await tenant.run(acting(tenant.model), { prompt })
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'node_failed' } })
    expect(record.error!.message).toContain(said)
    expect(record.error!.resolution).toContain('describe the tool and its parameters more closely')
    expect(record.chargedMicro).toBeGreaterThan(0)
  },
)

test('a tool without a schema accepts any object, and tool_choice none yields only text', async ({
  startWorker,
  tenant,
  stack,
}) => {
  await startWorker()
  const plain = { type: 'function', function: { name: 'forecast' } }
  const prompt = newPrompt()
  await stack.provider.control.setFaults([{ prompt, toolArguments: '{"any":["thing"]}' }])
  expect(await tenant.run(acting(tenant.model, { tools: [plain] }), { prompt })).toMatchObject({
    status: 'Succeeded',
    output: { calls: { calls: [{ name: 'forecast', arguments: { any: ['thing'] } }] } },
  })
  const silent = await tenant.run(acting(tenant.model, { tools: [plain], tool_choice: 'none' }), { prompt })
  expect(silent).toMatchObject({ status: 'Succeeded', output: { text: expect.stringMatching(/\w/) as string } })
  expect(silent.output).not.toHaveProperty('calls')
})

test('the record keeps tool calls that an older flow does not wire to any node', async ({ startWorker, tenant }) => {
  await startWorker()
  const chat = { id: 'chat', kind: 'product.chat', product: tenant.model, params: { tools: [forecast] } }
  const graph = flow(side('prompt'), side('text'), [chat], 'in.prompt>chat.prompt', 'chat.text>out.text')
  const record = await tenant.run(graph, { prompt: newPrompt() })
  expect(nodeOf(record, 'chat').output).toMatchObject({ tool_calls: { calls: [{ name: 'forecast' }] } })
})
