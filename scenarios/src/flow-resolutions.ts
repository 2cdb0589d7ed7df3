import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ContractSide, Graph, GraphNode } from '@gateway/api/graph'
import type { refusals } from '@gateway/api/refusals'
import { callerAt, type Answer } from './caller.ts'
import type { ResolutionContext } from './resolution-context.ts'

// The refusals of sandbox products with their resolutions. A failure inside an execution is a 200 with the execution's error.

interface ResolutionStory {
  code: keyof typeof refusals
  resolution: RegExp
  story: (context: ResolutionContext) => Promise<void>
}

const side = (properties: ContractSide['properties'], required = Object.keys(properties)): ContractSide => ({
  type: 'object',
  properties,
  required,
})
const text = { type: 'string' }

/** A flow with one node between a text input and a text output. `from` and `to` are the ports of the node. */
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

const pathOf = ({ tenantPath, projectPath }: ResolutionContext, sandbox?: string) =>
  sandbox === undefined ? `${projectPath}/sandboxes` : `${tenantPath}/sandboxes/${sandbox}`

function invoke(
  { stack, tenant }: ResolutionContext,
  sandbox: string,
  input: object,
  more: { key?: string; revision?: number; maxMicro?: number } = {},
) {
  const { key = tenant.key.secret, ...fields } = more
  const headers = { 'idempotency-key': randomUUID(), accept: 'application/json' }
  const body = { input, ...fields }
  return callerAt(stack.gateways[0]!.url, key).ask('POST', `/v1/sandbox/${sandbox}/invoke`, body, headers)
}

/** The error of a failed execution in the form of a refusal. */
function errorOf(execution: Answer): Answer {
  expect([execution.status, execution.body.status]).toEqual([200, 'Failed'])
  return { ...execution, body: { error: execution.body.error as object } }
}

/** Asserts the error of an execution, which has the code and the resolution of a refusal but not its status. */
function failed(context: ResolutionContext, execution: Answer, code: string, resolution: RegExp): void {
  expect(errorOf(execution).body.error).toMatchObject({ code, resolution: expect.stringMatching(resolution) as string })
  context.succeeds(execution)
}

function succeeded(context: ResolutionContext, execution: Answer): void {
  expect(context.succeeds(execution).body).toMatchObject({ status: 'Succeeded' })
}

/** Saves a revision and activates it. */
async function activate(context: ResolutionContext, sandbox: string, graph: Graph): Promise<void> {
  const path = `${pathOf(context, sandbox)}/revisions`
  const { body } = context.succeeds(await context.users.owner.ask('POST', path, { graph }))
  context.succeeds(await context.users.owner.ask('POST', `${path}/${body.number as number}/activate`))
}

export const flowResolutions: ResolutionStory[] = [
  {
    code: 'mcp_disabled',
    resolution: /Ask a Project Owner or Consumer to enable MCP access, or call POST \/v1\/sandbox\/\{id\}\/invoke/,
    async story(context) {
      const { id } = await context.fixture.sandbox(context.tenant.project, template('{{ text }}'))
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const headers = { accept: 'application/json, text/event-stream' }
      const ask = () =>
        callerAt(context.stack.gateways[0]!.url, context.tenant.key.secret).ask(
          'POST',
          `/v1/sandbox/${id}/mcp`,
          list,
          headers,
        )
      context.refused(await ask())
      succeeded(context, await invoke(context, id, { text: 'Hello' }))
      context.succeeds(await context.users.owner.ask('PATCH', pathOf(context, id), { mcpEnabled: true }))
      context.succeeds(await ask())
    },
  },
  {
    code: 'product_not_assigned',
    resolution: /Ask an Admin of the organization to assign the product/,
    async story(context) {
      const product = await context.publishProduct()
      const { body } = context.succeeds(
        await context.users.owner.ask('POST', pathOf(context), { name: 'Ask', description: '' }),
      )
      const graph = flow({ id: 'ask', kind: 'product.chat', product, params: { max_tokens: 20 } }, ['prompt', 'text'])
      const path = `${pathOf(context, body.id as string)}/revisions`
      context.succeeds(await context.users.owner.ask('POST', path, { graph }))
      const activate = () => context.users.owner.ask('POST', `${path}/1/activate`)
      context.refused(await activate())
      const assignment = `${context.projectPath}/assignments/${encodeURIComponent(product)}`
      context.succeeds(await context.users.admin.ask('PUT', assignment))
      context.succeeds(await activate())
    },
  },
  {
    code: 'ceiling_reached',
    resolution: /Set maxMicro to \d+ or higher, or omit it\. Then run the sandbox product again/,
    async story(context) {
      const { model } = context.tenant
      const graph = flow({ id: 'ask', kind: 'product.chat', product: model, params: { max_tokens: 20 } }, [
        'prompt',
        'text',
      ])
      const { id } = await context.fixture.sandbox(context.tenant.project, graph)
      const first = await invoke(context, id, { text: 'Hello' }, { maxMicro: 1 })
      failed(context, first, 'ceiling_reached', /maxMicro/)
      const { details } = (errorOf(first).body as { error: { details: Record<string, number> } }).error
      const enough = details['chargedMicro']! + details['reservedMicro']! + details['neededMicro']!
      failed(
        context,
        await invoke(context, id, { text: 'Hello' }, { maxMicro: enough - 1 }),
        'ceiling_reached',
        /maxMicro/,
      )
      succeeded(context, await invoke(context, id, { text: 'Hello' }, { maxMicro: enough }))
      succeeded(context, await invoke(context, id, { text: 'Hello' }))
    },
  },
  {
    code: 'rerun_differs',
    resolution: /Rerun from a node at or before all of them, omit revision, or run the revision from the start/,
    async story(context) {
      const { owner } = context.users
      const { id } = await context.fixture.sandbox(context.tenant.project, template('{{ text }}'))
      const execution = (await invoke(context, id, { text: 'Hello' })).body.id as string
      await activate(context, id, template('Well: {{ text }}'))
      const rerun = (from: string, revision?: number) =>
        owner.ask('POST', `${context.projectPath}/executions/${execution}/rerun`, { from, revision })
      expect(context.refused(await rerun('out', 2)).details).toEqual({ nodes: ['say'] })
      succeeded(context, await rerun('say', 2))
      succeeded(context, await rerun('out'))
      succeeded(
        context,
        await owner.ask('POST', `${pathOf(context, id)}/execute`, { input: { text: 'Hello' }, revision: 2 }),
      )
    },
  },
  {
    code: 'sandbox_contract',
    resolution: /Call POST \/v1\/sandbox\/sbx-[\w-]+\/invoke with an input object/,
    async story(context) {
      const graph = template('{{ text }}', { input: side({ text, tone: text }, ['text']) })
      const { id } = await context.fixture.sandbox(context.tenant.project, graph)
      context.refused(await context.call(context.tenant.key, { model: id }))
      succeeded(context, await invoke(context, id, { text: 'Hello' }))
    },
  },
  {
    code: 'input_type',
    resolution: /Send an input object that matches the input schema/,
    async story(context) {
      const tone = { type: 'string', enum: ['dry', 'warm'] }
      const graph = template('{{ text }}', { input: side({ text, tone }, ['text']) })
      const { id } = await context.fixture.sandbox(context.tenant.project, graph)
      for (const input of [{}, { text: 7 }, { text: 'Hello', tone: 'cold' }, { text: 'Hello', more: 1 }])
        context.refused(await invoke(context, id, input))
      succeeded(context, await invoke(context, id, { text: 'Hello', tone: 'dry' }))
    },
  },
  {
    code: 'graph_invalid',
    resolution: /Fix the problems listed in details\.problems, save the graph as a new revision, and use that revision/,
    async story(context) {
      const { body } = context.succeeds(
        await context.users.owner.ask('POST', pathOf(context), { name: 'Say', description: '' }),
      )
      const path = `${pathOf(context, body.id as string)}/revisions`
      const broken = template('{{ text }}', { edges: [] })
      const saveAndActivate = async (graph: Graph) => {
        const saved = context.succeeds(await context.users.owner.ask('POST', path, { graph }))
        return context.users.owner.ask('POST', `${path}/${saved.body.number as number}/activate`)
      }
      context.refused(await saveAndActivate(broken))
      context.succeeds(await saveAndActivate(template('{{ text }}')))
    },
  },
  {
    code: 'expression_failed',
    resolution: /Change the input, or change the expression to handle it/,
    async story(context) {
      const { id } = await context.fixture.sandbox(context.tenant.project, expression("text.split(',')[1]"))
      failed(context, await invoke(context, id, { text: 'Hello' }), 'expression_failed', /Change the input/)
      succeeded(context, await invoke(context, id, { text: 'Hello,you' }))
      await activate(context, id, expression("size(text) > 0 ? text : ''"))
      succeeded(context, await invoke(context, id, { text: 'Hello' }))
    },
  },
  {
    code: 'value_too_large',
    resolution: /Send a smaller input, or have the models of the flow produce shorter output/,
    async story(context) {
      const { id } = await context.fixture.sandbox(context.tenant.project, template('{{ text }}{{ text }}{{ text }}'))
      failed(
        context,
        await invoke(context, id, { text: 'x'.repeat(30_000) }),
        'value_too_large',
        /Send a smaller input/,
      )
      succeeded(context, await invoke(context, id, { text: 'x'.repeat(20_000) }))
    },
  },
  {
    code: 'output_too_large',
    resolution: /Send a smaller input, or change the flow to produce less output/,
    async story(context) {
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
      const { id } = await context.fixture.sandbox(context.tenant.project, wide(6))
      const input = { text: 'x'.repeat(50_000) }
      failed(context, await invoke(context, id, input), 'output_too_large', /Send a smaller input/)
      succeeded(context, await invoke(context, id, { text: 'x'.repeat(40_000) }))
      await activate(context, id, wide(5))
      succeeded(context, await invoke(context, id, input))
    },
  },
  {
    code: 'output_missing',
    resolution: /Connect the output on every branch of the flow, or make it optional in the contract/,
    async story(context) {
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
      const { id } = await context.fixture.sandbox(context.tenant.project, branching([]))
      failed(context, await invoke(context, id, { text: 'no' }), 'output_missing', /Connect the output on every branch/)
      await activate(context, id, branching([{ from: 'long.false.text', to: 'out.text' }]))
      succeeded(context, await invoke(context, id, { text: 'no' }))
      await activate(context, id, branching([], side({ text }, [])))
      succeeded(context, await invoke(context, id, { text: 'no' }))
    },
  },
]
