import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { graph as graphShape, type Graph } from '@gateway/api/graph'
import { validFlow } from '@gateway/flow/generators'
import { changedFlow } from '@gateway/flow/changed-flow'
import { validateGraph } from '@gateway/flow/validate-graph'
import { clip, paste, readClipping, type Clipping } from './clipping.ts'
import { addNote, changeNotes, moveBy, removeNotes } from './note-commands.ts'
import { addContractField, removeContractField, renameContractField, setRequired } from './contract-commands.ts'
import { graphText, readGraphText } from './graph-text.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { addNode, connect, moveNodes, removeNodes, renameNode, setField, nodeKeys } from './node-commands.ts'
import { changedBy, randomChange } from './random-change.fixture.ts'

const codes = (graph: Graph) => validateGraph(graph, new Map()).map(({ code }) => code)

describe('commands', () => {
  test('return a well-formed graph with unique node keys', () => {
    fc.assert(
      fc.property(changedFlow, fc.array(randomChange), ({ graph }, changes) => {
        const after = changes.reduce(changedBy, graph)
        expect(graphShape.safeParse(after).success).toBe(true)
        expect(new Set(nodeKeys(after)).size).toBe(after.nodes.length)
      }),
    )
  })

  test('never change the problems of a graph by moving its nodes', () => {
    const position = fc.record({ x: fc.double({ noNaN: true, min: -1e6, max: 1e6 }), y: fc.integer() })
    fc.assert(
      fc.property(changedFlow, fc.array(position), ({ graph, products }, positions) => {
        const moved = moveNodes(graph, new Map(nodeKeys(graph).map((key, n) => [key, positions[n] ?? { x: 0, y: 0 }])))
        expect(validateGraph(moved, products)).toEqual(validateGraph(graph, products))
      }),
    )
  })

  test('keep a valid flow valid when a node or a field is renamed', () => {
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

  test('add a node with an ID that no node or edge uses', () => {
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

  test('remove a node with its edges, but keep edges that another node with the same ID needs', () => {
    expect(removeNodes(newGraph, new Set(['in']))).toMatchObject({ nodes: [{ id: 'out' }], edges: [] })
    const twice = { ...newGraph, nodes: [...newGraph.nodes, newGraph.nodes[0]!] }
    expect(nodeKeys(twice)).toEqual(['in', 'out', 'in (2)'])
    expect(removeNodes(twice, new Set(['in (2)']))).toEqual(newGraph)
  })

  test('remove a field that is set to undefined', () => {
    const titled = setField(newGraph, 'in', 'title', 'a')
    expect(setField(titled, 'in', 'title', undefined)).toEqual(newGraph)
  })

  test('paste copies with new IDs and the edges among them, but never a second input node', () => {
    const { graph } = addNode(newGraph, { kind: 'template', position: { x: 10, y: 10 } })
    const both = addNode(graph, { kind: 'product.chat', position: { x: 20, y: 10 } }).graph
    const drawn = connect(connect(both, { from: 'in.text', to: 'template.text' }), {
      from: 'template.text',
      to: 'chat.prompt',
    })
    const copied = readClipping(JSON.stringify(clip(drawn, new Set(['in', 'template', 'chat'])))) as Clipping
    const pasted = paste(drawn, copied, { x: 40, y: 40 })
    expect(pasted.keys).toEqual(['template-2', 'chat-2'])
    expect(pasted.graph.edges.slice(3)).toEqual([{ from: 'template-2.text', to: 'chat-2.prompt' }])
    expect(pasted.graph.nodes.at(-1)).toMatchObject({ kind: 'product.chat', position: { x: 60, y: 50 } })
  })

  test.each([
    ['', /no nodes of a flow/],
    ['words', /no nodes of a flow/],
    ['[]', /no nodes of a flow/],
    ['{"nodes":[],"edges":[]}', /no nodes of a flow/],
    ['{"format":"gateway-flow-nodes","version":2}', /another version/],
    ['{"format":"gateway-flow-nodes","version":1,"nodes":[{"id":1}],"edges":[],"notes":[]}', /damaged/],
    [' '.repeat(1_000_001), /too much text/],
  ])('paste nothing from the text %.60j and say why', (text, fault) => {
    expect(readClipping(text)).toEqual({ fault: expect.stringMatching(fault) as string })
  })

  test('move nodes and notes together, and leave the others where they are', () => {
    const { graph } = addNote(newGraph, { x: 1, y: 2 })
    const keys = nodeKeys(graph)
    const moved = moveBy(graph, new Set([keys[0]!]), new Set(['note-1']), { x: 5, y: -5 })
    const [first, ...others] = graph.nodes
    const { x, y } = first!['position'] as { x: number; y: number }
    expect(moved.nodes).toEqual([{ ...first, position: { x: x + 5, y: y - 5 } }, ...others])
    expect(moved.notes).toMatchObject([{ position: { x: 6, y: -3 } }])
    expect(moveBy(graph, new Set(), new Set(), { x: 5, y: 5 })).toBe(graph)
  })
  test('add, change, copy and remove sticky notes, and leave no field behind', () => {
    const { graph, id } = addNote(newGraph, { x: 1.4, y: 2 })
    expect(graph.notes).toMatchObject([{ id: 'note-1', color: 'yellow', position: { x: 1, y: 2 } }])
    const written = changeNotes(graph, new Map([[id, { text: 'Why?' }]]))
    expect(written.notes).toMatchObject([{ text: 'Why?' }])
    expect(changeNotes(written, new Map([[id, { text: 'Why?' }]]))).toBe(written)
    const copied = readClipping(JSON.stringify(clip(written, new Set(), new Set([id])))) as Clipping
    const pasted = paste(written, copied, { x: 10, y: 10 })
    expect(pasted).toMatchObject({ keys: [], noteIds: ['note-2'] })
    expect(pasted.graph.notes![1]).toMatchObject({ text: 'Why?', position: { x: 11, y: 12 } })
    expect(removeNotes(pasted.graph, new Set(['note-1', 'note-2']))).toEqual(newGraph)
    expect(graphShape.safeParse(pasted.graph).success).toBe(true)
  })

  test('add a required contract field, make it optional, rename it, and remove it with its edges', () => {
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

  test('restore a graph from its text', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph: made }) => {
        const graph = JSON.parse(JSON.stringify(made)) as Graph // as the service sends it: a generated one may have -0
        expect(readGraphText(graphText(graph))).toEqual({ graph })
      }),
    )
  })

  test.each([
    ['{', /^Invalid JSON: /],
    ['{}', /^Not a valid graph: input: /],
    ['[]', /^Not a valid graph: /],
  ])('explain why the text %s is not a graph', (text, fault) => {
    expect(readGraphText(text)).toEqual({ fault: expect.stringMatching(fault) as string })
  })
})
