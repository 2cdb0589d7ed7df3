import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ContractSide, Graph, GraphNode } from '@gateway/contracts/graph'
import type { refusals } from '@gateway/contracts/refusals'
import { callerAt, type Answer } from './caller.ts'
import type { Town } from './town.ts'

// The refusals of sandbox products, and what clears each. What fails inside a run is answered with 200 and the run's error.

interface ResolutionStory {
  code: keyof typeof refusals
  way: RegExp
  story: (town: Town) => Promise<void>
}

const side = (properties: ContractSide['properties'], required = Object.keys(properties)): ContractSide => ({
  type: 'object',
  properties,
  required,
})
const text = { type: 'string' }

/** One node between input and output, which both have a text. `from` and `to` are the ports of the node. */
function flow(node: GraphNode, [from, to] = ['text', 'text'], sides: Partial<Graph> = {}): Graph {
  return {
    input: side({ text }),
    output: side({ text }),
    nodes: [{ id: 'in', kind: 'input' }, node, { id: 'out', kind: 'output' }],
    edges: [
      { from: 'in.text', to: `${node.id}.${from}` },
      { from: `${node.id}.${to}`, to: 'out.text' },
    ],
    ...sides,
  }
}
const template = (words: string, sides: Partial<Graph> = {}) =>
  flow({ id: 'say', kind: 'template', template: words }, ['text', 'text'], sides)
const expression = (words: string) => flow({ id: 'say', kind: 'expression', expression: words }, ['text', 'value'])

const pathOf = ({ tenantPath, projectPath }: Town, sandbox?: string) =>
  sandbox === undefined ? `${projectPath}/sandboxes` : `${tenantPath}/sandboxes/${sandbox}`

function invoke(
  { stack, tenant }: Town,
  sandbox: string,
  input: object,
  more: { key?: string; revision?: number } = {},
) {
  const { key = tenant.key.secret, revision } = more
  const headers = { 'idempotency-key': randomUUID(), accept: 'application/json' }
  const body = { input, ...(revision !== undefined && { revision }) }
  return callerAt(stack.gateways[0]!.url, key).ask('POST', `/v1/sandbox/${sandbox}/invoke`, body, headers)
}

/** The error of a run, as if the run had been refused with it. */
function errorOf(execution: Answer): Answer {
  expect([execution.status, execution.body.status]).toEqual([200, 'Failed'])
  return { ...execution, body: { error: execution.body.error as object } }
}

/** Within a run the status of a refusal is not told; the code and its way are. */
function failed(town: Town, execution: Answer, code: string, way: RegExp): void {
  expect(errorOf(execution).body.error).toMatchObject({ code, resolution: expect.stringMatching(way) as string })
  town.succeeds(execution)
}

function succeeded(town: Town, execution: Answer): void {
  expect(town.succeeds(execution).body).toMatchObject({ status: 'Succeeded' })
}

/** Saves a revision and activates it. */
async function activate(town: Town, sandbox: string, graph: Graph): Promise<void> {
  const path = `${pathOf(town, sandbox)}/revisions`
  const { body } = town.succeeds(await town.people.owner.ask('POST', path, { graph }))
  town.succeeds(await town.people.owner.ask('POST', `${path}/${body.number as number}/activate`))
}

export const flowResolutions: ResolutionStory[] = [
  {
    code: 'mcp_disabled',
    way: /Ask an owner of the project to enable MCP on the sandbox product, or call POST \/v1\/sandbox\/\{id\}\/invoke/,
    async story(town) {
      const { id } = await town.fixture.sandbox(town.tenant.project, template('{{ text }}'))
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const headers = { accept: 'application/json, text/event-stream' }
      const ask = () =>
        callerAt(town.stack.gateways[0]!.url, town.tenant.key.secret).ask(
          'POST',
          `/v1/sandbox/${id}/mcp`,
          list,
          headers,
        )
      town.refused(await ask())
      succeeded(town, await invoke(town, id, { text: 'Hello' }))
      town.succeeds(await town.people.owner.ask('PATCH', pathOf(town, id), { mcpEnabled: true }))
      town.succeeds(await ask())
    },
  },
  {
    code: 'product_not_assigned',
    way: /Ask an administrator of the organization to assign the product to the project/,
    async story(town) {
      const product = await town.sell()
      const { body } = town.succeeds(
        await town.people.owner.ask('POST', pathOf(town), { name: 'Ask', description: '' }),
      )
      const graph = flow({ id: 'ask', kind: 'product.chat', product, params: { max_tokens: 20 } }, ['prompt', 'text'])
      const save = () => town.people.owner.ask('POST', `${pathOf(town, body.id as string)}/revisions`, { graph })
      town.refused(await save())
      const assignment = `${town.projectPath}/assignments/${encodeURIComponent(product)}`
      town.succeeds(await town.people.admin.ask('PUT', assignment))
      town.succeeds(await save())
    },
  },
  {
    code: 'sandbox_contract',
    way: /Call POST \/v1\/sandbox\/sbx-[\w-]+\/invoke with an input object/,
    async story(town) {
      const graph = template('{{ text }}', { input: side({ text, tone: text }, ['text']) })
      const { id } = await town.fixture.sandbox(town.tenant.project, graph)
      town.refused(await town.call(town.tenant.key, { model: id }))
      succeeded(town, await invoke(town, id, { text: 'Hello' }))
    },
  },
  {
    code: 'input_type',
    way: /Send an input object that fits the input schema/,
    async story(town) {
      const tone = { type: 'string', enum: ['dry', 'warm'] }
      const graph = template('{{ text }}', { input: side({ text, tone }, ['text']) })
      const { id } = await town.fixture.sandbox(town.tenant.project, graph)
      for (const input of [{}, { text: 7 }, { text: 'Hello', tone: 'cold' }, { text: 'Hello', more: 1 }])
        town.refused(await invoke(town, id, input))
      succeeded(town, await invoke(town, id, { text: 'Hello', tone: 'dry' }))
    },
  },
  {
    code: 'graph_invalid',
    way: /Mend what details\.problems lists, or save with "draft": true/,
    async story(town) {
      const { body } = town.succeeds(
        await town.people.owner.ask('POST', pathOf(town), { name: 'Say', description: '' }),
      )
      const path = `${pathOf(town, body.id as string)}/revisions`
      const broken = template('{{ text }}', { edges: [] })
      town.refused(await town.people.owner.ask('POST', path, { graph: broken }))
      town.succeeds(await town.people.owner.ask('POST', path, { graph: broken, draft: true }))
      town.succeeds(await town.people.owner.ask('POST', path, { graph: template('{{ text }}') }))
    },
  },
  {
    code: 'expression_failed',
    way: /Send another input, or change the expression so that it holds for this one/,
    async story(town) {
      const { id } = await town.fixture.sandbox(town.tenant.project, expression("text.split(',')[1]"))
      failed(town, await invoke(town, id, { text: 'Hello' }), 'expression_failed', /Send another input/)
      succeeded(town, await invoke(town, id, { text: 'Hello,you' }))
      await activate(town, id, expression("size(text) > 0 ? text : ''"))
      succeeded(town, await invoke(town, id, { text: 'Hello' }))
    },
  },
  {
    code: 'value_too_large',
    way: /Send a smaller input, or ask the models of the flow for shorter answers/,
    async story(town) {
      const { id } = await town.fixture.sandbox(town.tenant.project, template('{{ text }}{{ text }}{{ text }}'))
      failed(town, await invoke(town, id, { text: 'x'.repeat(30_000) }), 'value_too_large', /Send a smaller input/)
      succeeded(town, await invoke(town, id, { text: 'x'.repeat(20_000) }))
    },
  },
  {
    code: 'output_too_large',
    way: /Send a smaller input, or change the flow so that it answers less/,
    async story(town) {
      const wide = (fields: number): Graph => {
        const names = Array.from({ length: fields }, (_, n) => `text${n}`)
        const properties = Object.fromEntries(names.map((name) => [name, text]))
        return {
          input: side({ text }),
          output: side(properties),
          nodes: [
            { id: 'in', kind: 'input' },
            { id: 'out', kind: 'output' },
          ],
          edges: names.map((name) => ({ from: 'in.text', to: `out.${name}` })),
        }
      }
      const { id } = await town.fixture.sandbox(town.tenant.project, wide(6))
      const input = { text: 'x'.repeat(50_000) }
      failed(town, await invoke(town, id, input), 'output_too_large', /Send a smaller input/)
      succeeded(town, await invoke(town, id, { text: 'x'.repeat(40_000) }))
      await activate(town, id, wide(5))
      succeeded(town, await invoke(town, id, input))
    },
  },
  {
    code: 'output_missing',
    way: /Wire the output on every branch of the flow, or make it optional in the contract/,
    async story(town) {
      const branching = (more: Graph['edges'], output = side({ text })): Graph => ({
        input: side({ text }),
        output,
        nodes: [
          { id: 'in', kind: 'input' },
          { id: 'long', kind: 'branch', condition: 'size(text) > 3' },
          { id: 'out', kind: 'output' },
        ],
        edges: [{ from: 'in.text', to: 'long.text' }, { from: 'long.true.text', to: 'out.text' }, ...more],
      })
      const { id } = await town.fixture.sandbox(town.tenant.project, branching([]))
      failed(town, await invoke(town, id, { text: 'no' }), 'output_missing', /Wire the output on every branch/)
      await activate(town, id, branching([{ from: 'long.false.text', to: 'out.text' }]))
      succeeded(town, await invoke(town, id, { text: 'no' }))
      await activate(town, id, branching([], side({ text }, [])))
      succeeded(town, await invoke(town, id, { text: 'no' }))
    },
  },
]
