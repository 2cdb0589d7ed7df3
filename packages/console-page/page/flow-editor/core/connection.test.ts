import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { changedFlow } from '@gateway/flow/changed-flow'
import { factsOf } from '@gateway/flow/generators'
import { validateGraph } from '@gateway/flow/validate-graph'
import { fits, insertedInto, insertNode, reconnect } from './connection.ts'
import { freePlace, type Box } from './placement.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { addNode, connect } from './node-commands.ts'

const products = factsOf({ chat: ['acme/swift'], image: ['acme/brush'], audio: [] })
const at = { x: 0, y: 0 }
const chat = { kind: 'product.chat', fields: { product: 'acme/swift' } }
const through = { from: 'in.text', to: 'out.text' }
const codesOf = (graph: Graph) => validateGraph(graph, products).map((problem) => JSON.stringify(problem))

describe('insertNode', () => {
  test.each([
    [
      chat,
      [
        { from: 'in.text', to: 'chat.prompt' },
        { from: 'chat.text', to: 'out.text' },
      ],
    ],
    [
      { kind: 'branch', fields: {} },
      [
        { from: 'in.text', to: 'branch.text' },
        { from: 'branch.true.text', to: 'out.text' },
        { from: 'branch.false.text', to: 'out.text' },
      ],
    ],
  ])('puts %j into an edge', (addable, edges) => {
    const inserted = insertNode(newGraph, products, addable, at, { edge: through })
    expect(inserted).toMatchObject({ isJoined: true, graph: { edges } })
    expect(codesOf(inserted.graph)).toEqual([])
  })

  test('keeps the edge if no port of the node fits', () => {
    const picture = { kind: 'product.image', fields: { product: 'acme/brush' } }
    const inserted = insertNode(newGraph, products, picture, at, { edge: through })
    expect(inserted).toMatchObject({ isJoined: false, id: 'image', graph: { edges: [through] } })
  })

  test('connects a node with the one it comes after, or with a port', () => {
    const wired = [through, { from: 'in.text', to: 'chat.prompt' }]
    const after = insertNode(newGraph, products, chat, at, { after: 'in' })
    expect(after).toMatchObject({ isJoined: true, graph: { edges: wired } })
    const port = { key: 'in', port: 'text', side: 'output' as const }
    expect(insertNode(newGraph, products, chat, at, { port }).graph.edges).toEqual(wired)
    expect(insertNode(newGraph, products, chat, at, { after: 'out' })).toMatchObject({ isJoined: false })
  })

  test('never adds a problem to the nodes that were there', () => {
    fc.assert(
      fc.property(changedFlow, fc.nat(), ({ graph, products }, n) => {
        const edge = graph.edges[n % Math.max(1, graph.edges.length)]
        if (!edge) return
        const { graph: grown, id } = addNode(graph, { kind: 'template', position: at })
        const inserted = insertedInto(grown, products, edge, id)
        if (!inserted) return
        const before = new Set(validateGraph(grown, products).map((problem) => JSON.stringify(problem)))
        expect(validateGraph(inserted, products).filter((problem) => !before.has(JSON.stringify(problem)))).toEqual([])
      }),
    )
  })
})

describe('reconnect', () => {
  const { graph } = addNode(newGraph, { kind: 'product.chat', position: at, fields: { product: 'acme/swift' } })

  test('leads the end of an edge to another port', () => {
    const moved = reconnect(graph, products, through, { from: 'in.text', to: 'chat.prompt' })
    expect(moved.edges).toEqual([{ from: 'in.text', to: 'chat.prompt' }])
  })

  test('replaces the edge of an input that takes one value', () => {
    const both = connect(graph, { from: 'in.text', to: 'chat.prompt' })
    const moved = reconnect(both, products, through, { from: 'chat.text', to: 'out.text' })
    expect(moved.edges).toEqual([
      { from: 'in.text', to: 'chat.prompt' },
      { from: 'chat.text', to: 'out.text' },
    ])
  })

  test('changes nothing if the edge does not fit there', () => {
    expect(reconnect(graph, products, through, { from: 'in.text', to: 'chat.image' })).toBe(graph)
    expect(reconnect(graph, products, through, through)).toBe(graph)
  })
})

test.each([
  [{ kind: 'product.image', fields: {} }, 'string', 'output', true],
  [{ kind: 'product.image', fields: {} }, 'audio', 'output', false],
  [{ kind: 'product.image', fields: {} }, 'image', 'input', true],
  [{ kind: 'product.image', fields: {} }, 'string', 'input', false],
  [{ kind: 'template', fields: {} }, 'number', 'output', true],
  [{ kind: 'constant', fields: {} }, 'string', 'output', false],
  [{ kind: 'output', fields: {} }, 'string', 'output', true],
] as const)('whether %j fits a port of type %s that is an %s: %s', (addable, type, side, isFitting) => {
  expect(fits(addable, type, side)).toBe(isFitting)
})

test('freePlace finds a place that touches no node, and the wanted one if that is free', () => {
  const box = fc.record({
    x: fc.integer({ min: -500, max: 500 }),
    y: fc.integer({ min: -500, max: 500 }),
    width: fc.integer({ min: 10, max: 300 }),
    height: fc.integer({ min: 10, max: 300 }),
  })
  const size = { width: 256, height: 170 }
  const touches = ({ x, y }: { x: number; y: number }, other: Box) =>
    x < other.x + other.width && other.x < x + size.width && y < other.y + other.height && other.y < y + size.height
  fc.assert(
    fc.property(fc.array(box, { maxLength: 50 }), (boxes) => {
      const place = freePlace(boxes, { x: 0, y: 0 }, size)
      expect(boxes.some((other) => touches(place, other))).toBe(false)
      if (boxes.length === 0) expect(place).toEqual({ x: 0, y: 0 })
    }),
  )
})
