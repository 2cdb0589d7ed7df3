import { describe, expect, test } from 'vitest'
import type { EstimatedProduct, SandboxEstimate } from '@gateway/api/estimate'
import type { Values } from '@gateway/api/execution'
import type { Graph, GraphEdge, GraphNode } from '@gateway/api/graph'
import { buildPackage } from '../package.ts'
import { estimate } from './estimate.ts'

/** One micro-USD per prompt token and ten per completion token; a byte is a token, without overheads. */
const plain: EstimatedProduct = {
  id: 'plain',
  bounded: true,
  counted: false,
  contextLength: 1_000_000,
  maxOutputTokens: 8_192,
  tokensPerByteMillionths: 1_000_000,
  perMessage: 0,
  perTool: 0,
  fixedWithTools: 0,
  maxTokensPerImage: 1_000,
  factorMillionths: 1_000_000,
  promptPico: '1000000',
  cacheWritePico: null,
  completionPico: '10000000',
  requestPico: '0',
}
const last: SandboxEstimate['last'] = {
  samePackage: true,
  executions: 0,
  minMicro: null,
  medianMicro: null,
  p90Micro: null,
  maxMicro: null,
}
const text = { type: 'string' }
const CAP = { max_tokens: 5 }
const ask = (id: string, product = 'plain', params: object = CAP): GraphNode => ({
  id,
  kind: 'product.chat',
  product,
  params,
})

/** Length of {"messages":[{"role":"user","content":…}]} around the quoted text. */
const AROUND = 41

function estimated(
  nodes: GraphNode[],
  wires: string[],
  input: Values = { text: 'hello' },
  products = [plain],
): SandboxEstimate {
  const names = Object.keys(input)
  const graph: Graph = {
    input: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])), required: [] },
    output: { type: 'object', properties: { out: text }, required: [] },
    nodes: [{ id: 'in', kind: 'input' }, ...nodes, { id: 'end', kind: 'output' }],
    edges: wires.map((wire): GraphEdge => {
      const [from, to] = wire.split('>') as [string, string]
      return { from, to }
    }),
  }
  const facts = {
    project: 'prj',
    sandbox: 'sbx-a',
    revision: 1,
    package: buildPackage(graph).package,
    values: input,
    products,
    last,
  }
  const steps = estimate(facts)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

const oneCall = (product: Partial<EstimatedProduct>, params: object = CAP, input = 'hello') =>
  estimated([ask('a', 'plain', params)], ['in.text>a.prompt', 'a.text>end.out'], { text: input }, [
    { ...plain, ...product },
  ]).atMostMicro

describe('the max cost of a call with a known prompt', () => {
  test('counts its bytes as tokens, plus its output cap', () => {
    expect(oneCall({})).toBe(AROUND + 7 + 50)
    expect(oneCall({}, CAP, '"é')).toBe(AROUND + 6 + 50) // "\"é" in JSON
  })
  test('applies tokens per byte, overheads and factor of the product, and rounds up like an admission', () => {
    // 48 bytes are 24 tokens, 27 with the message; times 1.35 is 36.45, rounded up to 37.
    const product = { tokensPerByteMillionths: 500_000, perMessage: 3, factorMillionths: 1_350_000 }
    expect(oneCall(product)).toBe(37 + 50)
    // At half a micro-USD per token, 18.5 plus 50; 25 tokens times 1.35 is 34 tokens, which cost 17.
    expect(oneCall({ ...product, promptPico: '500000' })).toBe(19 + 50)
    expect(oneCall({ ...product, promptPico: '500000', perMessage: 1 })).toBe(17 + 50)
  })
  test('counts one token per byte if the product has a tokenizer', () => {
    expect(oneCall({ tokensPerByteMillionths: 500_000, counted: true })).toBe(AROUND + 7 + 50)
  })
  test('includes the price per request', () => {
    expect(oneCall({ promptPico: '0', completionPico: '0', requestPico: '1500001' })).toBe(2)
  })
  test('uses the max output of the model if there is no cap, up to 8192 tokens', () => {
    expect(oneCall({ maxOutputTokens: 100 }, {})).toBe(AROUND + 7 + 1_000)
    expect(oneCall({ maxOutputTokens: 20_000 }, {})).toBe(AROUND + 7 + 81_920)
  })
  test('is limited by the context, and 0 if the call is impossible', () => {
    expect(oneCall({ contextLength: 60 })).toBe(AROUND + 7 + 50)
    expect(oneCall({ contextLength: 40 })).toBe(35 + 50)
    expect(oneCall({ contextLength: 4 })).toBe(0)
    expect(oneCall({ maxOutputTokens: 4 })).toBe(0)
    expect(oneCall({}, CAP, 'x'.repeat(130_000))).toBe(0)
  })
})

test.for([
  ['chat', 'prompt'],
  ['image', 'prompt'],
  ['audio', 'text'],
])('a null that a branch leads to a product.%s node costs nothing, because the node fails', ([kind, port]) => {
  const nodes: GraphNode[] = [
    { id: 'long', kind: 'branch', condition: 'note != null && size(note) > 400' },
    { id: 'small', kind: `product.${kind}`, product: 'plain' },
  ]
  const wires = ['in.note>long.note', `long.false.note>small.${port}`, 'long.true.note>end.out']
  expect(estimated(nodes, wires, { note: null }).atMostMicro).toBe(0)
  expect(estimated(nodes, wires, { note: 'short' }).atMostMicro).toBeGreaterThan(0)
})

describe('an unknown prompt', () => {
  const LONGEST = 128_000 + 50 // the bytes of a request, and its answer
  const after = (nodes: GraphNode[], wires: string[]) =>
    estimated([ask('a'), ...nodes, ask('b')], ['in.text>a.prompt', ...wires, 'b.text>end.out']).nodes

  test('counts as long as a port value can be, at most as a request', () => {
    expect(after([], ['a.text>b.prompt'])).toEqual([
      { id: 'a', atMostMicro: AROUND + 7 + 50 },
      { id: 'b', atMostMicro: LONGEST },
    ])
  })
  test('from a template counts as the sum of its parts, at most as long as a request', () => {
    const say = { id: 'say', kind: 'template', template: 'Length: {{ n }}.' }
    const size = { id: 'size', kind: 'expression', expression: 'size(t)' }
    // 9 characters plus JSON quotes; a number is at most 32 bytes, counted twice here.
    expect(after([size, say], ['a.text>size.t', 'size.value>say.n', 'say.text>b.prompt'])[1]).toEqual({
      id: 'b',
      atMostMicro: AROUND + 11 + 64 + 1 + 50,
    })
    const much = { id: 'say', kind: 'template', template: '{{ t }}{{ t }}' }
    expect(after([much], ['a.text>say.t', 'say.text>b.prompt'])[1]!.atMostMicro).toBe(LONGEST)
  })
  test('is bounded by the context of its product', () => {
    const products = [plain, { ...plain, id: 'small', contextLength: 105 }]
    const { nodes } = estimated(
      [ask('a'), ask('b', 'small')],
      ['in.text>a.prompt', 'a.text>b.prompt', 'b.text>end.out'],
      undefined,
      products,
    )
    expect(nodes[1]).toEqual({ id: 'b', atMostMicro: 100 + 50 })
  })
})

test('counts a paid node whose result nothing uses, which is only a warning', () => {
  const { atMostMicro, nodes } = estimated(
    [ask('a'), ask('lost')],
    ['in.text>a.prompt', 'in.text>lost.prompt', 'a.text>end.out'],
  )
  const one = AROUND + 7 + 50
  expect([atMostMicro, nodes]).toEqual([
    2 * one,
    [
      { id: 'a', atMostMicro: one },
      { id: 'lost', atMostMicro: one },
    ],
  ])
})

describe('the max cost of a branch', () => {
  const products = [plain, { ...plain, id: 'dear', completionPico: '20000000' }]
  const [cheap, dear] = [AROUND + 7 + 50, AROUND + 7 + 100]
  const sides = ['x.true.t>a.prompt', 'x.false.t>b.prompt', 'a.text>end.out', 'b.text>end.out']

  test('includes only the side taken if the condition is known', () => {
    const on = (condition: string) =>
      estimated(
        [{ id: 'x', kind: 'branch', condition }, ask('a'), ask('b', 'dear')],
        ['in.text>x.t', ...sides],
        undefined,
        products,
      )
    expect(on('size(t) == 5')).toMatchObject({
      atMostMicro: cheap,
      nodes: [{ atMostMicro: cheap }, { id: 'b', atMostMicro: 0 }],
    })
    expect(on('size(t) != 5').atMostMicro).toBe(dear)
  })
  test('includes only the more expensive side if the condition is unknown', () => {
    const wires = ['in.text>ask.prompt', 'ask.text>x.s', 'in.text>x.t', ...sides]
    const condition = 'size(s) > 3 && t != ""'
    const { atMostMicro, nodes } = estimated(
      [ask('ask'), { id: 'x', kind: 'branch', condition }, ask('a'), ask('b', 'dear')],
      wires,
      undefined,
      products,
    )
    expect(nodes.map((node) => node.atMostMicro)).toEqual([cheap, cheap, dear])
    expect(atMostMicro).toBe(cheap + dear)
  })
  test('includes both sides if more than ten conditions are unknown', () => {
    const count = 11
    const branches = Array.from({ length: count }, (_, n) => ({
      id: `x${n}`,
      kind: 'branch',
      condition: `size(s) > ${n} && t != ""`,
    }))
    const calls = [ask('a0'), ask('b0')]
    const wires = branches.flatMap(({ id }) => ['ask.text>' + id + '.s', 'in.text>' + id + '.t'])
    const graph = (some: number) =>
      estimated(
        [ask('ask'), ...branches.slice(0, some), ...calls],
        [
          'in.text>ask.prompt',
          ...wires.slice(0, 2 * some),
          'x0.true.t>a0.prompt',
          'x0.false.t>b0.prompt',
          'a0.text>end.out',
          'b0.text>end.out',
        ],
      ).atMostMicro
    expect(graph(10)).toBe(2 * cheap)
    expect(graph(11)).toBe(3 * cheap)
  })
})

test('the max cost excludes nodes that wait for a node certain to fail', () => {
  const { atMostMicro } = estimated(
    [{ id: 'x', kind: 'expression', expression: 't.length', type: 'string' }, ask('a'), ask('b')],
    ['in.text>x.t', 'x.value>a.prompt', 'in.text>b.prompt', 'a.text>end.out'],
  )
  expect(atMostMicro).toBe(AROUND + 7 + 50)
})

test('the max cost of a flow without paid nodes is 0', () => {
  const say = { id: 'say', kind: 'template', template: '{{ t }}' }
  expect(estimated([say], ['in.text>say.t', 'say.text>end.out'])).toEqual({
    object: 'sandbox.estimate',
    sandbox: 'sbx-a',
    revision: 1,
    atMostMicro: 0,
    nodes: [],
    last,
  })
})
