import { expect, test } from 'vitest'
import { graph as graphShape, type Graph, type GraphNode } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import type { ProductFacts } from './node-kind.ts'
import { validateGraph } from './validate-graph.ts'

const chat: ProductFacts = {
  kind: 'chat',
  assigned: true,
  supportedParameters: ['stop', 'response_format'],
  maxOutputTokens: 500,
  takesImages: false,
}
const products = new Map<string, ProductFacts>([
  ['chat', chat],
  ['seeing', { ...chat, takesImages: true }],
  ['image', { kind: 'image', assigned: true, supportedParameters: [] }],
  ['audio', { kind: 'audio', assigned: true, supportedParameters: [] }],
  ['another', { ...chat, assigned: false }],
])

const text = { type: 'string' }
const side = (properties: Graph['input']['properties'], required = Object.keys(properties)) => ({
  type: 'object' as const,
  properties,
  required,
})

/** Returns a flow with these nodes between input and output; edges are written `a.x > b.y`. */
function flow(nodes: GraphNode[], edges: string[], { input = side({ text }), output = side({ text }) } = {}): Graph {
  return {
    input,
    output,
    nodes: [{ id: 'in', kind: 'input' }, ...nodes, { id: 'out', kind: 'output' }],
    edges: edges.map((edge) => {
      const [from, to] = edge.split(' > ')
      return { from: from!, to: to! }
    }),
  }
}
const problems = (graph: Graph) => validateGraph(graph, products)
const codes = (graph: Graph) => problems(graph).map(({ code }) => code)
const straight = ['in.text > out.text']
const node = (more: Partial<GraphNode> & { kind: string }): GraphNode => ({ id: 'n', ...more })

test('the example flow of the decisions has no problems, and a problem has code, node, port, message and resolution', () => {
  const graph = flow(
    [
      { id: 'ask', kind: 'template', template: 'Write about {{ topic }} in a {{ tone }} tone.' },
      { id: 'draft', kind: 'product.chat', product: 'chat', params: { max_tokens: 300 } },
      { id: 'long', kind: 'branch', condition: 'size(text) > 400' },
      { id: 'trim', kind: 'product.chat', product: 'chat' },
    ],
    [
      'in.topic > ask.topic',
      'in.tone > ask.tone',
      'ask.text > draft.prompt',
      'draft.text > long.text',
      'long.true.text > trim.prompt',
      'trim.text > out.text',
      'long.false.text > out.text',
    ],
    { input: side({ topic: text, tone: { type: 'string', enum: ['dry', 'warm'] } }, ['topic']) },
  )
  expect(problems(graph)).toEqual([])
  expect(validateGraph(graph, new Map())).toEqual([
    {
      code: 'product_not_assigned',
      node: 'draft',
      port: null,
      message:
        'This project cannot call the product chat of node draft now: it is not assigned, or it is not published.',
      resolution: expect.stringContaining('assign') as string,
    },
    expect.objectContaining({ code: 'product_not_assigned', node: 'trim' }),
  ])
})

test('reports all problems of a graph at once', () => {
  const graph = flow(
    [
      node({ id: '1', kind: 'teleport' }),
      node({ id: 'a', kind: 'template', template: '{{ x + }}' }),
      node({ id: 'b', kind: 'product.chat', product: 'another', params: { n: 1 } }),
      node({ id: 'c', kind: 'expression', expression: 'x', colour: 'red' }),
      node({ id: 'c', kind: 'constant' }),
    ],
    ['nowhere.x > out.text', 'in.text > out.nothing', 'in > out'],
    { input: side({ text, bad: { type: 'list' } }) },
  )
  expect(new Set(codes(graph))).toEqual(
    new Set([
      'contract_invalid',
      'node_id_invalid',
      'kind_unknown',
      'template_invalid',
      'params_invalid',
      'field_unknown',
      'node_id_duplicate',
      'field_invalid',
      'product_not_assigned',
      'node_unknown',
      'port_unknown',
      'edge_invalid',
      'wiring_missing',
    ]),
  )
})

test('a node ID is a letter followed by up to 63 letters, digits, _ and -', () => {
  const named = (id: string) => codes(flow([node({ id, kind: 'constant', value: 1 })], straight))
  for (const id of ['a', 'A-b_9', `a${'x'.repeat(63)}`]) expect(named(id)).toEqual([])
  for (const id of ['', '1a', '_a', 'a.b', 'ä', 'a b', `a${'x'.repeat(64)}`])
    expect([id, ...named(id)]).toEqual([id, 'node_id_invalid'])
})

test('requires exactly one input and one output node', () => {
  const graph = flow([], straight)
  expect(codes({ ...graph, nodes: [...graph.nodes, { id: 'in2', kind: 'input' }] })).toEqual(['input_count'])
  expect(codes({ ...graph, nodes: [graph.nodes[0]!] })).toContain('output_count')
  expect(codes({ ...graph, nodes: [], edges: [] })).toEqual(['input_count', 'output_count'])
})

// spec: 2.3/s13, 8.2/r1, 8.2/r2, 8.2/r3
test('limits a flow to 50 nodes, 200 edges and 8 paid nodes', () => {
  const constants = (count: number) =>
    Array.from({ length: count }, (_, at) => node({ id: `c${at}`, kind: 'constant', value: 1 }))
  expect(codes(flow(constants(flowLimits.nodes - 2), straight))).toEqual([])
  expect(codes(flow(constants(flowLimits.nodes - 1), straight))).toEqual(['too_many_nodes'])

  const names = (count: number) => Array.from({ length: count }, (_, at) => `v${at}`)
  const wide = (count: number) =>
    flow(
      [100, count - 101].map((wires, at) =>
        node({
          id: `t${at}`,
          kind: 'template',
          template: names(wires)
            .map((name) => `{{ ${name} }}`)
            .join(''),
        }),
      ),
      [
        ...[100, count - 101].flatMap((wires, at) => names(wires).map((name) => `in.text > t${at}.${name}`)),
        ...straight,
      ],
    )
  expect(wide(flowLimits.edges).edges).toHaveLength(200)
  expect(codes(wide(flowLimits.edges))).toEqual([])
  expect(codes(wide(flowLimits.edges + 1))).toEqual(['too_many_edges'])

  const paid = (count: number) => {
    const calls = Array.from({ length: count }, (_, at) =>
      node({
        id: `p${at}`,
        kind: at % 2 === 0 ? 'product.chat' : 'product.image',
        product: at % 2 === 0 ? 'chat' : 'image',
      }),
    )
    return flow(calls, [...calls.map(({ id }) => `in.text > ${id}.prompt`), ...straight])
  }
  expect(codes(paid(flowLimits.paidNodes))).toEqual([])
  expect(codes(paid(flowLimits.paidNodes + 1))).toEqual(['too_many_paid_nodes'])
})

// spec: 8.2/r4
test('limits each side of the contract to 20 fields', () => {
  const fields = (count: number) => side(Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, text])))
  expect(codes(flow([], ['in.f0 > out.text'], { input: fields(20) }))).toEqual([])
  expect(codes(flow([], ['in.f0 > out.text'], { input: fields(21) }))).toEqual(['too_many_fields'])
})

test('accepts as a constant only a valid port value of at most 64 KB', () => {
  const constant = (value: unknown) => codes(flow([node({ kind: 'constant', value })], straight))
  for (const value of ['', 0, false, {}, 'x'.repeat(flowLimits.portBytes)]) expect(constant(value)).toEqual([])
  expect(constant('x'.repeat(flowLimits.portBytes + 1))).toEqual(['value_too_large'])
  for (const value of [null, [], undefined]) expect(constant(value)).toEqual(['field_invalid'])
  expect(constant({ a: '\ud800' })).toEqual(['field_invalid'])
  expect(constant({ a: Number.POSITIVE_INFINITY })).toEqual(['field_invalid'])
  expect(constant(JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`))).toContain('field_invalid')
})

// spec: 1/s6, 2.3/s12
test('a node has only the fields of its kind, title, description and position', () => {
  const template = (more: object) => codes(flow([node({ kind: 'constant', value: 1, ...more })], straight))
  expect(template({ title: 'T', description: 'D', position: { x: 1, y: 2 } })).toEqual([])
  expect(template({ template: 'x' })).toEqual(['field_unknown'])
  for (const kind of ['template', 'expression', 'branch', 'product.chat', 'product.image', 'product.audio'])
    expect([kind, ...codes(flow([node({ kind })], straight))]).toContain('field_invalid')
})

// spec: 2.3/s12
test('reports an edge to or from a port that does not exist', () => {
  const edged = (edge: string) =>
    problems(flow([node({ kind: 'branch', condition: 'size(text) > 1' })], ['in.text > n.text', edge, ...straight]))
  for (const [edge, code] of [
    ['in > n.text', 'edge_invalid'],
    ['.text > n.text', 'edge_invalid'],
    ['in. > n.text', 'edge_invalid'],
    ['gone.text > out.text', 'node_unknown'],
    ['in.constructor > out.text', 'port_unknown'],
    ['n.text > out.text', 'port_unknown'],
    ['n.maybe.text > out.text', 'port_unknown'],
    ['in.text > out.other', 'port_unknown'],
    ['out.text > n.text', 'port_unknown'],
    ['in.text > out.text', 'edge_duplicate'],
  ])
    expect([edge, ...edged(edge!).map((problem) => problem.code)]).toEqual([edge, code])
  expect(edged('n.maybe.text > out.text')[0]).toMatchObject({
    node: 'n',
    port: 'maybe.text',
    resolution: 'Use one of true.text, false.text.',
  })
})

test('names a few ports and the number of the others if an edge names a port that does not exist', () => {
  const fields = Array.from({ length: 2_400 }, (_, at) => `${'f'.repeat(60)}${at}`)
  const graph = flow(
    [],
    fields.map((_, at) => `in.g${at} > out.h${at}`),
    {
      input: side(Object.fromEntries(fields.map((name) => [name, text]))),
    },
  )
  const unknown = problems(graph).filter(({ code }) => code === 'port_unknown')
  expect(unknown).toHaveLength(2 * fields.length)
  expect(Math.max(...unknown.map(({ resolution }) => resolution.length))).toBeLessThan(2_000)
  expect(unknown[0]!.resolution).toMatch(/^Use one of f+0, .*, f+19 and 2380 more\.$/)
})

test('reports a required input without an edge', () => {
  expect(codes(flow([], []))).toEqual(['wiring_missing'])
  expect(codes(flow([], [], { output: side({ text }, []) }))).toEqual([])
  expect(problems(flow([node({ kind: 'product.chat', product: 'chat' })], straight))).toMatchObject([
    { code: 'wiring_missing', node: 'n', port: 'prompt' },
  ])
  expect(codes(flow([node({ kind: 'template', template: '{{ a }}{{ b }}' })], straight))).toEqual([
    'wiring_missing',
    'wiring_missing',
  ])
})

test('reports a cycle once, with its nodes', () => {
  const template = (id: string) => node({ id, kind: 'template', template: '{{ x }}' })
  const graph = flow(
    [template('a'), template('b'), template('c'), template('behind')],
    ['a.text > b.x', 'b.text > c.x', 'c.text > a.x', 'c.text > behind.x', ...straight],
  )
  expect(problems(graph)).toMatchObject([{ code: 'cycle', message: 'These nodes wait for each other: a, b, c.' }])
  expect(codes(flow([template('a')], ['a.text > a.x', ...straight]))).toEqual(['cycle'])
})

// spec: 2.3/s12
test('reports an edge between different types', () => {
  const typed = (edge: string, type: object = text) =>
    codes(
      flow([], [edge], {
        input: side({ s: text, n: { type: 'number' }, i: { type: 'object', format: 'image' } }),
        output: side({ x: type as typeof text }),
      }),
    )
  expect(typed('in.s > out.x')).toEqual([])
  expect(typed('in.n > out.x')).toEqual(['type_mismatch'])
  expect(typed('in.i > out.x', { type: 'object' })).toEqual(['type_mismatch'])
  expect(typed('in.i > out.x', { type: 'object', format: 'image' })).toEqual([])
  expect(typed('in.i > out.x', { type: 'object', format: 'audio' })).toEqual(['type_mismatch'])
})

test('requires the type of a port from every source behind a branch', () => {
  const chosen = (types: Graph['input']['properties'], condition = 'n > 0 || s == ""') =>
    problems(
      flow(
        [
          node({ id: 'a', kind: 'branch', condition }),
          node({ id: 'b', kind: 'branch', condition: 'v != null' }),
          node({ id: 'c', kind: 'branch', condition: 'v != null' }),
          node({ kind: 'product.chat', product: 'chat' }),
        ],
        [
          'in.n > a.n',
          'in.s > a.s',
          'a.true.n > b.v',
          'a.false.s > b.v',
          'b.true.v > c.v',
          'c.true.v > n.prompt',
          'n.text > out.text',
        ],
        { input: side(types) },
      ),
    )
  expect(chosen({ n: { type: 'number' }, s: text })).toMatchObject([
    {
      code: 'type_mismatch',
      node: 'n',
      port: 'prompt',
      message: 'The edge from c.true.v to n.prompt joins number or string with string.',
    },
  ])
  expect(chosen({ n: text, s: text }, 'n == s')).toEqual([])
  expect(chosen({ n: { type: 'number' }, s: { type: 'number' } }, 'n == s')).toMatchObject([{ code: 'type_mismatch' }])
})

test('accepts a string and an expression of unknown type on the two sides of a branch as text', () => {
  const expression = node({ id: 'e', kind: 'expression', expression: 'o.name' })
  const led = (type: string) =>
    codes(
      flow(
        [
          expression,
          node({ id: 'a', kind: 'branch', condition: 's != null && e != null' }),
          node({ id: 'b', kind: 'branch', condition: 'v != null' }),
        ],
        ['in.o > e.o', 'in.s > a.s', 'e.value > a.e', 'a.true.s > b.v', 'a.false.e > b.v', 'b.true.v > out.text'],
        { input: side({ o: { type: 'object' }, s: { type } }) },
      ),
    )
  expect(led('string')).toEqual([])
  expect(led('number')).toEqual(['type_mismatch'])
})

test('infers the type of an expression where possible, and otherwise requires one type from all its edges', () => {
  const input = side({ o: { type: 'object' }, i: { type: 'object', format: 'image' } })
  const output = side({ a: text, b: { type: 'number' }, c: { type: 'object', format: 'image' } }, [])
  const given = (expression: string, edges: string[], more: object = {}) =>
    codes(
      flow(
        [node({ kind: 'expression', expression, ...more }), node({ id: 'b', kind: 'branch', condition: 'x != null' })],
        ['in.o > n.o', 'n.value > b.x', ...edges],
        { input, output },
      ),
    )
  expect(given('o.name', ['n.value > out.a'])).toEqual([])
  expect(given('o.name', ['b.true.x > out.a'])).toEqual([])
  expect(given('o.name', ['n.value > out.a', 'b.true.x > out.b'])).toEqual(['type_mismatch'])
  expect(given('o.name', ['n.value > out.c'])).toEqual(['type_mismatch'])
  expect(given('o.name', ['n.value > out.b'], { type: 'string' })).toEqual(['type_mismatch'])
  expect(given('size(o)', ['n.value > out.b'])).toEqual([])
  expect(given('size(o)', ['b.false.x > out.a'])).toEqual(['type_mismatch'])
  expect(given('size(o)', [], { type: 'string' })).toEqual(['expression_invalid'])
  expect(given('size(o)', [], { type: 'image' })).toEqual(['field_invalid'])
  expect(given('[o]', [])).toEqual(['expression_invalid'])
  expect(given('o == null ? null : null', [])).toEqual(['expression_invalid'])
})

test('checks expressions, conditions and template holes against the types of their inputs', () => {
  const checked = (more: Partial<GraphNode> & { kind: string }) =>
    problems(flow([node(more)], ['in.text > n.text', ...straight]))
  expect(checked({ kind: 'expression', expression: 'text * 2' })).toMatchObject([
    {
      code: 'expression_invalid',
      node: 'n',
      message: 'The expression of node n puts * between a string and a number.',
    },
  ])
  expect(checked({ kind: 'branch', condition: 'size(text)' })).toMatchObject([
    { code: 'expression_invalid', node: 'n' },
  ])
  expect(checked({ kind: 'branch', condition: 'text.matches("a")' })).toMatchObject([{ code: 'expression_invalid' }])
  expect(
    checked({ kind: 'template', template: '{{ text }} {{ text / 2 }} {{ -text }}' }).map(({ code }) => code),
  ).toEqual(['template_invalid', 'template_invalid'])
})

test('allows two edges into one port only if a branch decides between them', () => {
  const branch = (id: string) => node({ id, kind: 'branch', condition: 'size(text) > 1' })
  const template = (id: string) => node({ id, kind: 'template', template: '{{ x }}' })
  const shared = (edges: string[]) =>
    codes(flow([branch('b'), branch('c'), template('t'), template('u')], ['in.text > b.text', ...edges]))
  const rest = ['in.text > c.text', 'b.true.text > t.x', 'b.false.text > u.x']
  expect(shared([...rest, 't.text > out.text', 'u.text > out.text'])).toEqual([])
  expect(shared([...rest, 't.text > out.text', 'b.false.text > out.text'])).toEqual([])
  expect(shared([...rest, 't.text > out.text', 'in.text > out.text'])).toEqual(['port_taken'])
  expect(shared([...rest, 't.text > out.text', 'b.true.text > out.text'])).toEqual(['port_taken'])
  expect(shared([...rest, 'b.true.text > out.text', 'c.false.text > out.text'])).toEqual(['port_taken'])
  // Nested branches: three paths, of which one is taken.
  const nested = ['b.false.text > c.text', 'c.true.text > t.x', 'c.false.text > u.x']
  expect(shared([...nested, 'b.true.text > out.text', 't.text > out.text', 'u.text > out.text'])).toEqual([])
  // After the paths join again, later nodes are not exclusive with any other.
  expect(
    shared([
      'in.text > c.text',
      'b.true.text > t.x',
      'b.false.text > t.x',
      't.text > u.x',
      'b.true.text > out.text',
      'u.text > out.text',
    ]),
  ).toEqual(['port_taken'])
})

test('a chat node accepts several images, but only if its product accepts images', () => {
  const seeing = (product: string) =>
    codes(
      flow(
        [node({ kind: 'product.chat', product })],
        ['in.text > n.prompt', 'in.a > n.image', 'in.b > n.image', 'n.text > out.text'],
        { input: side({ text, a: { type: 'object', format: 'image' }, b: { type: 'object', format: 'image' } }) },
      ),
    )
  expect(seeing('seeing')).toEqual([])
  expect(seeing('chat')).toEqual(['port_unsupported'])
})

test('reports an optional input wired to a required port of a product', () => {
  const optional = (edges: string[]) =>
    codes(
      flow(
        [node({ kind: 'product.chat', product: 'chat' }), node({ id: 'b', kind: 'branch', condition: 'text != null' })],
        ['n.text > out.text', 'in.text > b.text', ...edges],
        { input: side({ text, needed: text }, ['needed']) },
      ),
    )
  expect(optional(['in.text > n.prompt'])).toEqual(['optional_to_required'])
  expect(optional(['in.needed > n.prompt', 'in.text > n.system'])).toEqual([])
  expect(optional(['b.true.text > n.prompt', 'in.needed > n.system'])).toEqual([])
})

test('reports a product that does not match the kind of its node', () => {
  const called = (kind: string, product: string, port: string) =>
    codes(flow([node({ kind, product })], [`in.text > n.${port}`, ...straight]))
  expect(called('product.chat', 'chat', 'prompt')).toEqual([])
  expect(called('product.image', 'image', 'prompt')).toEqual([])
  expect(called('product.audio', 'audio', 'text')).toEqual([])
  expect(called('product.chat', 'image', 'prompt')).toEqual(['product_kind'])
  expect(called('product.image', 'chat', 'prompt')).toEqual(['product_kind'])
  expect(called('product.audio', 'another', 'text')).toEqual(['product_not_assigned'])
  expect(called('product.chat', 'never-was', 'prompt')).toEqual(['product_not_assigned'])
})

test('accepts the params of a chat call, except those the flow decides', () => {
  const asked = (params: unknown) =>
    codes(flow([node({ kind: 'product.chat', product: 'chat', params })], ['in.text > n.prompt', 'n.text > out.text']))
  for (const params of [
    undefined,
    null,
    {},
    { max_tokens: 500, temperature: 2, top_p: 1, seed: 1, stop: ['x'] },
    { response_format: { type: 'json_object' } },
  ])
    expect([params, ...asked(params)]).toEqual([params])
  for (const name of ['stream', 'stream_options', 'n', 'project_id', 'model', 'messages', 'user'])
    expect([name, ...asked({ [name]: 1 })]).toEqual([name, 'params_invalid'])
  for (const params of [
    [],
    'x',
    { temperature: 2.1 },
    { max_tokens: 8193 },
    { stop: ['a', 'b', 'c', 'd', 'e'] },
    { tool_choice: 'required' },
  ])
    expect([params, ...asked(params)]).toEqual([params, 'params_invalid'])
  expect(asked({ temperature: 3, top_p: 0 })).toEqual(['params_invalid', 'params_invalid'])
  expect(asked({ max_tokens: 501 })).toEqual(['param_unsupported'])
  const tool = { type: 'function', function: { name: 'f' } }
  expect(asked({ tools: [tool], tool_choice: 'none' })).toEqual(['param_unsupported', 'param_unsupported'])
})

test('a chat node has a json port only with response_format json_object', () => {
  const json = (params?: object) =>
    codes(
      flow(
        [node({ kind: 'product.chat', product: 'chat', ...(params && { params }) })],
        ['in.text > n.prompt', 'n.json > out.o'],
        { output: side({ o: { type: 'object' } }) },
      ),
    )
  expect(json({ response_format: { type: 'json_object' } })).toEqual([])
  expect(json()).toEqual(['port_unknown', 'wiring_missing'])
  expect(json({ response_format: { type: 'text' } })).toEqual(['port_unknown', 'wiring_missing'])
})

test('validates a graph of any size in bounded time', () => {
  const nodes = Array.from({ length: 998 }, (_, at) => node({ id: `b${at}`, kind: 'branch', condition: 'x > 1' }))
  const edges = nodes.flatMap(({ id }, at) => [`b${at - 1}.true.x > ${id}.x`, `${id}.false.x > out.text`])
  const graph = flow(nodes, edges)
  expect(graphShape.safeParse(graph).success).toBe(true)
  expect(codes(graph).slice(0, 2)).toEqual(['too_many_nodes', 'too_many_edges'])
})

const tool = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }

test('a chat node with tools has a tool_calls port, which must be wired', () => {
  const asking = (params: object, edges: string[] = []) =>
    codes(
      flow(
        [node({ kind: 'product.chat', product: 'acting', params })],
        ['in.text > n.prompt', 'n.text > out.text', ...edges],
        {
          output: { ...side({ text, calls: { type: 'object' } }), required: ['text'] },
        },
      ),
    )
  const acting = products.get('chat')!
  products.set('acting', { ...acting, supportedParameters: ['tools', 'tool_choice'] })
  const led = ['n.tool_calls > out.calls']
  expect(asking({ tools: [tool] }, led)).toEqual([])
  expect(asking({ tools: [tool] })).toEqual(['wiring_missing'])
  expect(asking({ tools: [tool], tool_choice: 'required' })).toEqual(['wiring_missing'])
  expect(asking({ tools: [tool], tool_choice: 'none' })).toEqual([])
  expect(asking({}, led)).toEqual(['port_unknown'])
  expect(asking({ tools: [] }, led)).toEqual(['port_unknown'])
  expect(asking({ tools: [tool] }, ['n.tool_calls > out.text'])).toContain('type_mismatch')
})

test('accepts only params of an image or audio node that its product lists', () => {
  products.set('easel', {
    kind: 'image',
    assigned: true,
    supportedParameters: [],
    parameterValues: { size: ['512x512', '1024x1024'], format: ['png'] },
  })
  products.set('speaker', {
    kind: 'audio',
    assigned: true,
    supportedParameters: [],
    parameterValues: { voice: ['ada'] },
  })
  const picture = side({ picture: { type: 'object', format: 'image' } })
  const drawing = (params: unknown, product = 'easel') =>
    codes(
      flow([node({ kind: 'product.image', product, params })], ['in.text > n.prompt', 'n.image > out.picture'], {
        output: picture,
      }),
    )
  for (const params of [undefined, {}, { size: '512x512' }, { size: '1024x1024', format: 'png' }])
    expect(drawing(params)).toEqual([])
  for (const params of [{ size: '2x2' }, { format: 'jpeg' }, { quality: 'high' }])
    expect(drawing(params)).toEqual(['param_unsupported'])
  expect(drawing({ size: '512x512' }, 'image')).toEqual(['param_unsupported'])
  expect(drawing({ voice: 'ada' })).toEqual(['params_invalid'])
  for (const params of [{ size: 512 }, { size: '' }, { prompt: 'x' }, 'large', 7])
    expect([params, ...drawing(params)]).toEqual([params, 'params_invalid'])

  const speaking = (params: object, edges: string[] = []) =>
    codes(
      flow(
        [node({ kind: 'product.audio', product: 'speaker', params })],
        ['in.text > n.text', 'n.audio > out.sound', ...edges],
        {
          output: side({ sound: { type: 'object', format: 'audio' } }),
        },
      ),
    )
  expect(speaking({ voice: 'ada' })).toEqual([])
  expect(speaking({}, ['in.text > n.voice'])).toEqual([])
  expect(speaking({ voice: 'bob' })).toEqual(['param_unsupported'])
  expect(speaking({ voice: 'ada' }, ['in.text > n.voice'])).toEqual(['params_invalid'])
})

// spec: 2.3/s7
test('reports generated images that may not fit into the chat they are wired to', () => {
  const MIB = 1024 * 1024
  const shown = (maxOutputBytes: number, limits: { maxBytes: number; maxCount: number }, painters = 1) => {
    products.set('painter', { kind: 'image', assigned: true, supportedParameters: [], maxOutputBytes })
    products.set('viewer', { ...products.get('seeing')!, imageInput: { ...limits, maxTokens: 1_000 } })
    const names = Array.from({ length: painters }, (_, at) => `p${at}`)
    return flow(
      [
        ...names.map((id) => node({ id, kind: 'product.image', product: 'painter' })),
        node({ kind: 'product.chat', product: 'viewer' }),
      ],
      [
        'in.text > n.prompt',
        'n.text > out.text',
        ...names.flatMap((id) => [`in.text > ${id}.prompt`, `${id}.image > n.image`]),
      ],
    )
  }
  expect(codes(shown(5 * MIB, { maxBytes: 5 * MIB, maxCount: 3 }, 3))).toEqual([])
  expect(problems(shown(5 * MIB + 1, { maxBytes: 5 * MIB, maxCount: 3 }))).toMatchObject([
    { code: 'image_too_large', node: 'n', port: 'image', message: expect.stringContaining('p0') as string },
  ])
  expect(codes(shown(MIB, { maxBytes: MIB, maxCount: 2 }, 3))).toEqual(['port_unsupported'])
  expect(codes(shown(5 * MIB, { maxBytes: 5 * MIB, maxCount: 10 }, 4))).toEqual(['image_too_large']) // 20 MiB in total
})

test('reports generated images that leave no room in the context for the output', () => {
  const seen = (contextLength: number, images: number, params: object = {}) => {
    products.set('painter', { kind: 'image', assigned: true, supportedParameters: [], maxOutputBytes: 1_000 })
    const imageInput = { maxBytes: 1_000, maxCount: 10, maxTokens: 1_000 }
    products.set('viewer', { ...products.get('seeing')!, imageInput, contextLength }) // max output is 500 tokens
    const names = Array.from({ length: images }, (_, at) => `p${at}`)
    const nodes = names.map((id) => node({ id, kind: 'product.image', product: 'painter' }))
    const edges = names.flatMap((id) => [`in.text > ${id}.prompt`, `${id}.image > n.image`])
    const chat = node({ kind: 'product.chat', product: 'viewer', params })
    return codes(flow([...nodes, chat], ['in.text > n.prompt', 'n.text > out.text', ...edges]))
  }
  expect(seen(2_500, 2)).toEqual([])
  expect(seen(2_499, 2)).toEqual(['image_too_large'])
  expect(seen(2_100, 2, { max_tokens: 100 })).toEqual([])
  expect(seen(400, 0)).toEqual([]) // not about images
})

test('counts an image that reaches a chat through both sides of a branch once', () => {
  products.set('painter', { kind: 'image', assigned: true, supportedParameters: [], maxOutputBytes: 2_000 })
  const led = (maxBytes: number, maxCount: number) => {
    products.set('viewer', { ...products.get('seeing')!, imageInput: { maxBytes, maxCount, maxTokens: 1 } })
    return codes(
      flow(
        [
          node({ id: 'paint', kind: 'product.image', product: 'painter' }),
          node({ id: 'either', kind: 'branch', condition: 'picture != null && true' }),
          node({ id: 'look', kind: 'product.chat', product: 'viewer' }),
        ],
        [
          'in.text > paint.prompt',
          'paint.image > either.picture',
          'either.true.picture > look.image',
          'either.false.picture > look.image',
          'in.text > look.prompt',
          'look.text > out.text',
        ],
      ),
    )
  }
  expect(led(2_000, 1)).toEqual([])
  expect(led(1_999, 1)).toEqual(['image_too_large'])
})

test('counts images of two painters on the two sides of a branch as one', () => {
  products.set('painter', { kind: 'image', assigned: true, supportedParameters: [], maxOutputBytes: 2_000 })
  const led = (maxBytes: number, maxCount: number, more: string[] = []) => {
    products.set('viewer', { ...products.get('seeing')!, imageInput: { maxBytes, maxCount, maxTokens: 1 } })
    const painters = ['bright', 'dark', 'extra'].map((id) => node({ id, kind: 'product.image', product: 'painter' }))
    return codes(
      flow(
        [
          ...painters,
          node({ id: 'either', kind: 'branch', condition: 'size(text) > 9' }),
          node({ id: 'look', kind: 'product.chat', product: 'viewer' }),
        ],
        [
          'in.text > either.text',
          'either.true.text > bright.prompt',
          'either.false.text > dark.prompt',
          'bright.image > look.image',
          'dark.image > look.image',
          'in.text > extra.prompt',
          'in.text > look.prompt',
          'look.text > out.text',
          ...more,
        ],
      ),
    )
  }
  expect(led(2_000, 1)).toEqual([])
  expect(led(1_999, 1)).toEqual(['image_too_large', 'image_too_large'])
  expect(led(2_000, 1, ['extra.image > look.image'])).toEqual(['port_unsupported'])
  expect(led(2_000, 2, ['extra.image > look.image'])).toEqual([])
})
