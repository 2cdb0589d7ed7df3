import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { graph as graphShape, type Graph } from '@gateway/api/graph'
import { validFlow } from '@gateway/flow/generators'
import { changedFlow } from '@gateway/flow/changed-flow'
import { validateGraph } from '@gateway/flow/validate-graph'
import { clip, paste, readClipping } from './clipping.ts'
import { addContractField, removeContractField, renameContractField, setRequired } from './contract-commands.ts'
import { graphText, readGraphText } from './graph-text.ts'
import { newGraph } from './new-graph.ts'
import { addNode, connect, moveNodes, removeNodes, renameNode, setField } from './node-commands.ts'
import { nodeKeys } from './node-keys.ts'
import { changedBy, randomChange } from './random-change.fixture.ts'

const codes = (graph: Graph) => validateGraph(graph, new Map()).map(({ code }) => code)

describe('commands', () => {
  test('each makes a graph of a graph, and its nodes have their own keys', () => {
    fc.assert(
      fc.property(changedFlow, fc.array(randomChange), ({ graph }, changes) => {
        const after = changes.reduce(changedBy, graph)
        expect(graphShape.safeParse(after).success).toBe(true)
        expect(new Set(nodeKeys(after)).size).toBe(after.nodes.length)
      }),
    )
  })

  test('where nodes are drawn changes no problem', () => {
    const position = fc.record({ x: fc.double({ noNaN: true, min: -1e6, max: 1e6 }), y: fc.integer() })
    fc.assert(
      fc.property(changedFlow, fc.array(position), ({ graph, products }, positions) => {
        const moved = moveNodes(graph, new Map(nodeKeys(graph).map((key, n) => [key, positions[n] ?? { x: 0, y: 0 }])))
        expect(validateGraph(moved, products)).toEqual(validateGraph(graph, products))
      }),
    )
  })

  test('a new name of a node or a field changes no flow that has no problems', () => {
    fc.assert(
      fc.property(validFlow(), fc.nat(999), ({ graph, products }, at) => {
        const key = nodeKeys(graph)[at % graph.nodes.length]!
        const fields = Object.keys(graph.input.properties)
        const renamed = renameContractField(
          renameNode(graph, key, 'fresh_name'),
          'input',
          fields[at % fields.length]!,
          'fresh field',
        )
        expect(validateGraph(renamed, products)).toEqual([])
      }),
    )
  })

  test('a node is added with an id that no node and no edge names', () => {
    const graph = connect(addNode(newGraph, { kind: 'template', position: { x: 0.4, y: 1 } }).graph, {
      from: 'template-2.text',
      to: 'out.text',
    })
    expect(addNode(graph, { kind: 'template', position: { x: 0, y: 0 } }).id).toBe('template-3')
    expect(graph.nodes.at(-1)).toEqual({
      id: 'template',
      kind: 'template',
      template: 'Write about {{ text }}.',
      position: { x: 0, y: 1 },
    })
  })

  test('a node is taken away with its edges, and of two of one id the edges stay with the other', () => {
    expect(removeNodes(newGraph, new Set(['in']))).toMatchObject({ nodes: [{ id: 'out' }], edges: [] })
    const twice = { ...newGraph, nodes: [...newGraph.nodes, newGraph.nodes[0]!] }
    expect(nodeKeys(twice)).toEqual(['in', 'out', 'in (2)'])
    expect(removeNodes(twice, new Set(['in (2)']))).toEqual(newGraph)
  })

  test('a field that is taken away leaves the node', () => {
    const titled = setField(newGraph, 'in', 'title', 'a')
    expect(setField(titled, 'in', 'title', undefined)).toEqual(newGraph)
  })

  test('copies have their own ids and the edges among them; there is one input and one output', () => {
    const { graph } = addNode(newGraph, { kind: 'template', position: { x: 10, y: 10 } })
    const both = addNode(graph, { kind: 'product.chat', position: { x: 20, y: 10 } }).graph
    const drawn = connect(connect(both, { from: 'in.text', to: 'template.text' }), {
      from: 'template.text',
      to: 'chat.prompt',
    })
    const copied = readClipping(JSON.stringify(clip(drawn, new Set(['in', 'template', 'chat']))))!
    const pasted = paste(drawn, copied, 40)
    expect(pasted.keys).toEqual(['template-2', 'chat-2'])
    expect(pasted.graph.edges.slice(3)).toEqual([{ from: 'template-2.text', to: 'chat-2.prompt' }])
    expect(pasted.graph.nodes.at(-1)).toMatchObject({ kind: 'product.chat', position: { x: 60, y: 50 } })
  })

  test.each(['', 'words', '[]', '{"nodes":[],"edges":[]}', '{"nodes":[{"id":1}],"edges":[]}'])(
    'no nodes are pasted of the text %j',
    (text) => expect(readClipping(text)).toBeNull(),
  )

  test('a contract gets fields, which are required and may no longer be, and loses them with their edges', () => {
    const { graph, name } = addContractField(newGraph, 'input')
    expect(graph.input).toEqual({
      type: 'object',
      properties: { text: { type: 'string' }, text_2: { type: 'string' } },
      required: ['text', 'text_2'],
    })
    expect(setRequired(graph, 'input', 'text', false).input.required).toEqual([name])
    expect(removeContractField(graph, 'input', 'text')).toMatchObject({ input: { required: [name] }, edges: [] })
    expect(renameContractField(graph, 'input', 'text', name)).toBe(graph)
    expect(codes(renameContractField(newGraph, 'output', 'text', 'answer'))).toEqual([])
  })

  test('the text of a graph is that graph', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph }) => {
        expect(readGraphText(graphText(graph))).toEqual({ graph })
      }),
    )
  })

  test.each([
    ['{', /^Invalid JSON: /],
    ['{}', /^Not a valid graph: input: /],
    ['[]', /^Not a valid graph: /],
  ])('of the text %s it is said why it is not a graph', (text, fault) => {
    expect(readGraphText(text)).toEqual({ fault: expect.stringMatching(fault) as string })
  })
})
