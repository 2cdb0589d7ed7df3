import fc from 'fast-check'
import type { Values } from '@gateway/api/execution'
import type { Graph, GraphEdge, GraphNode, ValueType } from '@gateway/api/graph'
import type { CalledKind, ProductFacts } from './node-kind.ts'

/** Graph without problems, a valid input, and the products it may call. */
export interface ValidFlow {
  graph: Graph
  input: Values
  products: Map<string, ProductFacts>
}

export interface FlowOptions {
  /** Maximum number of nodes in addition to input and output; default 12. */
  maxSteps?: number
  maxPaid?: number
  /** Ids of products that its paid nodes may call, by kind; a kind without products is not used. */
  products?: Record<CalledKind, string[]>
}

const PRODUCTS = { chat: ['acme/swift', 'acme/deep'], image: ['acme/brush'], audio: ['acme/voice'] }

/** Generates valid flows with branches, nodes that join exclusive sides, paid nodes, and nodes that never run. */
export function validFlow({
  maxSteps = 12,
  maxPaid = 8,
  products = PRODUCTS,
}: FlowOptions = {}): fc.Arbitrary<ValidFlow> {
  const step = fc.record({ what: fc.nat(9), a: fc.nat(999), b: fc.nat(999), c: fc.nat(999) })
  const word = fc.string({ maxLength: 12 })
  return fc
    .record({
      steps: fc.array(step, { maxLength: maxSteps }),
      outputs: fc.array(fc.nat(999), { minLength: 1, maxLength: 4 }),
      topic: word.map((text) => `a${text}`),
      note: fc.option(word),
      count: fc.integer({ min: -1000, max: 1000 }),
      loud: fc.boolean(),
      tone: fc.constantFrom('dry', 'warm', ''),
    })
    .map(({ steps, outputs, ...given }) => {
      const flow = drawing(products, maxPaid)
      for (const each of steps) flow.add(each)
      const graph = flow.finish(outputs)
      const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
      return { graph, input, products: factsOf(products) }
    })
}

export function factsOf(products: Record<CalledKind, string[]>): Map<string, ProductFacts> {
  const facts = new Map<string, ProductFacts>()
  for (const kind of ['chat', 'image', 'audio'] as const)
    for (const id of products[kind]) facts.set(id, { kind, assigned: true, supportedParameters: [], takesImages: true })
  return facts
}

/** Value in a flow, and the branch sides it depends on. */
interface Held {
  end: string
  type: ValueType
  sides: Set<string>
  /** It may be null, so it can't be a required input of a product. */
  optional: boolean
}

interface Step {
  what: number
  a: number
  b: number
  c: number
}

const INPUT: Graph['input'] = {
  type: 'object',
  properties: {
    topic: { type: 'string' },
    note: { type: 'string' },
    count: { type: 'number' },
    loud: { type: 'boolean' },
    tone: { type: 'string', enum: ['dry', 'warm'] },
  },
  required: ['topic', 'count', 'loud'],
}

function drawing(products: Record<CalledKind, string[]>, maxPaid: number) {
  const nodes: GraphNode[] = [{ id: 'in', kind: 'input' }]
  const edges: GraphEdge[] = []
  const held: Held[] = Object.entries(INPUT.properties).map(([name, { type }]) => ({
    end: `in.${name}`,
    type: type as ValueType,
    sides: new Set(),
    optional: !INPUT.required!.includes(name),
  }))
  let paid = 0

  const pick = <T>(from: T[], at: number): T | undefined => from[at % Math.max(1, from.length)]
  const of = (type: ValueType) => held.filter((value) => value.type === type && !value.optional)
  const sidesOf = (values: Held[]) => new Set(values.flatMap(({ sides }) => [...sides]))

  /** Adds a node with these edges and records its output values. */
  function draw(node: Omit<GraphNode, 'id'>, into: Record<string, Held>, out: Record<string, ValueType>): string {
    const id = `n${nodes.length}`
    nodes.push({ ...node, id } as GraphNode)
    for (const [port, value] of Object.entries(into)) edges.push({ from: value.end, to: `${id}.${port}` })
    const sides = sidesOf(Object.values(into))
    for (const [port, type] of Object.entries(out)) held.push({ end: `${id}.${port}`, type, sides, optional: false })
    return id
  }

  function branch(on: Held, condition: string): void {
    const id = draw({ kind: 'branch', condition }, { x: on }, {})
    for (const side of ['true', 'false'])
      held.push({ ...on, end: `${id}.${side}.x`, sides: new Set([...on.sides, `${id} ${side}`]) })
  }

  /** Adds a template that joins the two sides of a branch. */
  function join(at: number): void {
    const pairs = held.flatMap((one) => held.filter((other) => apart(one, other)).map((other) => [one, other] as const))
    const pair = pick(pairs, at)
    if (!pair) return
    const [one, other] = pair
    const common = new Set([...one.sides].filter((side) => other.sides.has(side)))
    const id = draw({ kind: 'template', template: 'join {{ x }}' }, { x: one }, {})
    edges.push({ from: other.end, to: `${id}.x` })
    held.push({ end: `${id}.text`, type: 'string', sides: common, optional: false })
  }

  function call(kind: CalledKind, { a, b, c }: Step): void {
    const product = pick(products[kind], a)
    const text = pick(of('string'), b)
    if (product === undefined || !text || paid >= maxPaid) return
    paid++
    if (kind === 'image') draw({ kind: 'product.image', product }, { prompt: text }, { image: 'image' })
    else if (kind === 'audio') draw({ kind: 'product.audio', product }, { text }, { audio: 'audio' })
    else {
      const system =
        c % 3 === 0
          ? pick(
              held.filter(({ type }) => type === 'string'),
              c,
            )
          : undefined
      const images = of('image').slice(0, c % 3)
      const id = draw({ kind: 'product.chat', product }, { prompt: text }, { text: 'string' })
      if (system) edges.push({ from: system.end, to: `${id}.system` })
      for (const image of images) edges.push({ from: image.end, to: `${id}.image` })
    }
  }

  function add(step: Step): void {
    const { what, a, b, c } = step
    const any = pick(held, a)!
    const text = pick(of('string'), b)!
    const number = pick(of('number'), c)!
    switch (what) {
      case 0:
        draw({ kind: 'template', template: `one {{ x }}, {{ y }} and ${c}` }, { x: any, y: text }, { text: 'string' })
        break
      case 1:
        draw({ kind: 'expression', expression: `size(x) + y * ${a % 7}` }, { x: text, y: number }, { value: 'number' })
        break
      case 2:
        draw(
          { kind: 'constant', value: a % 2 === 0 ? `text ${a}` : a },
          {},
          { value: a % 2 === 0 ? 'string' : 'number' },
        )
        break
      case 3:
        branch(text, `size(x) % 2 == ${a % 2}`)
        break
      case 4:
        branch(pick(of('boolean'), a)!, 'x')
        break
      case 5:
        branch(number, `x > ${b - 500}`)
        break
      case 6:
      case 7:
        join(a)
        break
      case 8:
        call('chat', step)
        break
      default:
        call(c % 2 === 0 ? 'image' : 'audio', step)
    }
  }

  function finish(outputs: number[]): Graph {
    const properties: Graph['output']['properties'] = {}
    const required: string[] = []
    for (const [at, choice] of outputs.entries()) {
      const value = pick(held, choice)!
      const media = value.type === 'image' || value.type === 'audio'
      properties[`f${at}`] = media ? { type: 'object', format: value.type } : { type: value.type }
      if (value.sides.size === 0 && !value.optional) required.push(`f${at}`)
      edges.push({ from: value.end, to: `out.f${at}` })
    }
    nodes.push({ id: 'out', kind: 'output' })
    return { input: INPUT, output: { type: 'object', properties, required }, nodes, edges }
  }
  return { add, finish }
}

/** Whether two values have the same type and are on different sides of one branch. */
function apart(one: Held, other: Held): boolean {
  return (
    one.end !== other.end &&
    one.type === other.type &&
    [...one.sides].some((side) => side.endsWith(' true') && other.sides.has(side.replace(' true', ' false')))
  )
}
