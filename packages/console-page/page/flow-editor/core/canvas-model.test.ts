import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ProductRecord } from '@gateway/api/console/products'
import type { Graph } from '@gateway/api/graph'
import { changedFlow } from '@gateway/flow/changed-flow'
import { factsOf, validFlow } from '@gateway/flow/generators'
import { validateGraph } from '@gateway/flow/validate-graph'
import { arranged } from './auto-layout.ts'
import { canvasModel } from './canvas-model.ts'
import { connectionFault, drawEdge, targetsOf } from './connection.ts'
import { placed } from './placement.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { startingGraph } from '../flow-screen.tsx'
import { addNode, connect, moveNodes, setField } from './node-commands.ts'
import { positionOf } from './position.ts'

const products = factsOf({ chat: ['acme/swift'], image: ['acme/brush'], audio: [] })
const chat = addNode(newGraph, {
  kind: 'product.chat',
  position: { x: 0, y: 0 },
  fields: { product: 'acme/swift' },
}).graph
const model = (graph: Graph) => canvasModel(graph, products)
const nodeIn = (graph: Graph, key: string) => model(graph).nodes.find((node) => node.key === key)!

describe('canvasModel', () => {
  test('reports the same problems as the server and attaches node problems to their nodes', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph, products }) => {
        const { problems, nodes } = canvasModel(graph, products)
        expect(problems).toEqual(validateGraph(graph, products))
        for (const problem of problems)
          if (graph.nodes.some(({ id }) => id === problem.node))
            expect(nodes.some((node) => node.problems.includes(problem))).toBe(true)
      }),
    )
  })

  test('draws every edge from an existing port to an existing port, even in an invalid graph', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph, products }) => {
        const { nodes, edges } = canvasModel(graph, products)
        const port = (side: 'inputs' | 'outputs', { key, port }: { key: string; port: string }) =>
          nodes.find((node) => node.key === key)![side].some(({ name }) => name === port)
        for (const { from, to } of edges) expect([port('outputs', from), port('inputs', to)]).toEqual([true, true])
      }),
    )
  })

  test('reports an unconnected input and a missing port at the port', () => {
    expect(nodeIn(chat, 'chat').inputs).toMatchObject([
      { name: 'prompt', type: 'string', isRequired: true, isWired: false, problems: [{ code: 'wiring_missing' }] },
      { name: 'system', isRequired: false, problems: [] },
      { name: 'image', type: 'image' },
    ])
    const templated = addNode(chat, { kind: 'template', position: { x: 0, y: 0 } }).graph
    const wired = connect(templated, { from: 'in.text', to: 'template.text' })
    const changed = setField(wired, 'template', 'template', 'Say {{ topic }}.')
    expect(nodeIn(changed, 'template').inputs).toMatchObject([
      { name: 'topic', isMissing: false, isWired: false },
      { name: 'text', isMissing: true, isWired: true, problems: [{ code: 'port_unknown' }] },
    ])
    expect(model(changed).edges).toMatchObject([{ hasProblem: false, type: 'string' }, { hasProblem: true }])
  })

  test('gives a connected port of any type the type of its value', () => {
    const { graph } = addNode(newGraph, { kind: 'template', position: { x: 0, y: 0 } })
    expect(nodeIn(graph, 'template').inputs).toMatchObject([{ type: 'any' }])
    const wired = connect(graph, { from: 'in.text', to: 'template.text' })
    expect(nodeIn(wired, 'template').inputs).toMatchObject([{ type: 'string' }])
  })
})

describe('connections', () => {
  test('allow an edge that adds no problem to the graph', () => {
    const edge = { from: 'in.text', to: 'chat.prompt' }
    expect(connectionFault(chat, products, edge)).toBeNull()
    expect(validateGraph(connect(chat, edge), products)).toEqual([])
  })

  test.each([
    [{ from: 'in.text', to: 'chat.image' }, /joins string with image/],
    [{ from: 'in.text', to: 'out.text' }, /already connected/],
    [{ from: 'chat.text', to: 'chat.prompt' }, /wait for each other/],
    [{ from: 'chat.text', to: 'out.nothing' }, /no input port/],
  ])('refuse %j with a reason', (edge, reason) => {
    expect(connectionFault(chat, products, edge)).toMatch(reason)
  })

  test('list the ports that a port can connect to, matching ones first', () => {
    const targets = targetsOf(model(chat), products, { key: 'in', port: 'text', side: 'output' })
    expect(targets.map(({ edge, reason }) => [edge.to, reason === null])).toEqual([
      ['chat.prompt', true],
      ['chat.system', true],
      ['out.text', false],
      ['chat.image', false],
    ])
    const back = targetsOf(model(chat), products, { key: 'out', port: 'text', side: 'input' })
    expect(back.map(({ edge }) => edge.from)).toEqual(['chat.text', 'in.text'])
  })
})

describe('auto-layout', () => {
  test('places every node to the right of its sources, and no two nodes at the same position', () => {
    fc.assert(
      fc.property(validFlow(), ({ graph, products }) => {
        const tidy = moveNodes(graph, arranged(canvasModel(graph, products), new Map()))
        const at = new Map(tidy.nodes.map((node) => [node.id, positionOf(node)!]))
        expect(new Set([...at.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(graph.nodes.length)
        for (const { from, to } of canvasModel(tidy, products).edges)
          expect(at.get(from.key)!.x).toBeLessThan(at.get(to.key)!.x)
      }),
    )
  })

  test('keeps existing positions and places the other nodes below', () => {
    const { nodes, edges, ...contract } = newGraph
    const some = { ...contract, edges, nodes: [nodes[0]!, { id: 'out', kind: 'output' }] }
    const [first, second] = placed(model(some)).nodes
    expect(first).toEqual(nodes[0])
    expect(positionOf(second!)!.y).toBeGreaterThan(100)
    expect(placed(model(newGraph))).toBe(newGraph)
  })
})

describe('drawEdge', () => {
  test('replaces the edge of an input that takes one value', () => {
    const wired = connect(chat, { from: 'in.text', to: 'chat.prompt' })
    const edge = { from: 'chat.text', to: 'out.text' }
    expect(wired.edges).toContainEqual({ from: 'in.text', to: 'out.text' })
    expect(connectionFault(wired, products, edge)).toBe(null)
    expect(drawEdge(wired, products, edge).edges).toEqual([{ from: 'in.text', to: 'chat.prompt' }, edge])
  })

  test('adds an edge without a new problem, or changes nothing', () => {
    fc.assert(
      fc.property(changedFlow, fc.nat(), fc.nat(), ({ graph, products }, a, b) => {
        const { nodes } = canvasModel(graph, products)
        const ends = (side: 'inputs' | 'outputs') =>
          nodes.flatMap((node) => node[side].map(({ name }) => `${node.node.id}.${name}`))
        const [outputs, inputs] = [ends('outputs'), ends('inputs')]
        if (outputs.length === 0 || inputs.length === 0) return
        const edge = { from: outputs[a % outputs.length]!, to: inputs[b % inputs.length]! }
        const drawn = drawEdge(graph, products, edge)
        const before = validateGraph(graph, products).map(({ code, node, port }) => `${code} ${node} ${port}`)
        const after = validateGraph(drawn, products).map(({ code, node, port }) => `${code} ${node} ${port}`)
        expect(after.filter((problem) => !before.includes(problem))).toEqual([])
        expect(drawn === graph).toBe(connectionFault(graph, products, edge) !== null)
      }),
    )
  })
})

test('a new flow can be activated as it starts, with a chat product or without one', () => {
  const chatProduct = { id: 'acme/swift', kind: 'chat' } as ProductRecord
  for (const catalogue of [[], [{ id: 'acme/brush', kind: 'image' } as ProductRecord, chatProduct]])
    expect(validateGraph(startingGraph(catalogue), products)).toEqual([])
  expect(startingGraph([chatProduct]).edges).toEqual([
    { from: 'in.text', to: 'chat.prompt' },
    { from: 'chat.text', to: 'out.text' },
  ])
})
