import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { validFlow } from '@gateway/flow/generators'
import { changedFlow } from '@gateway/flow/changed-flow'
import { differenceOf, unitText } from '@gateway/flow/compare/difference'
import { graphOf, unitsOf } from '@gateway/flow/compare/graph-units'
import { compareThree, merged, type Choice } from '@gateway/flow/compare/merge'
import { newGraph } from '@gateway/flow/new-graph'
import { withOwnIds } from './own-ids.ts'
import { addNode, connect, moveNodes, removeNodes, setField, nodeKeys } from './node-commands.ts'
import { changedBy, randomChange } from './random-change.fixture.ts'

/** A graph and two graphs derived from it. */
const three = fc
  .tuple(validFlow(), fc.array(randomChange, { maxLength: 6 }), fc.array(randomChange, { maxLength: 6 }))
  .map(([{ graph }, theirs, mine]) => ({
    base: graph,
    theirs: theirs.reduce(changedBy, graph),
    mine: mine.reduce(changedBy, graph),
  }))

const same = (a: Graph, b: Graph) => differenceOf(a, b).parts.length === 0 && differenceOf(a, b).moved.length === 0
const none = new Map<string, Choice>()
const merge = (base: Graph, theirs: Graph, mine: Graph) => merged(compareThree(base, theirs, mine), none)
const outcomes = (base: Graph, theirs: Graph, mine: Graph) =>
  Object.fromEntries(
    compareThree(base, theirs, mine)
      .filter(({ outcome }) => outcome !== 'unchanged')
      .map(({ key, outcome }) => [key, outcome]),
  )

describe('three-way merge', () => {
  test('restores a graph from its parts', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph }) => {
        expect(same(graphOf(unitsOf(graph).values()), graph)).toBe(true)
      }),
    )
  })

  test('equals one side if the other is unchanged or identical', () => {
    fc.assert(
      fc.property(three, ({ base, mine }) => {
        expect(same(merge(base, base, mine), mine)).toBe(true)
        expect(same(merge(base, mine, base), mine)).toBe(true)
        expect(same(merge(base, mine, mine), mine)).toBe(true)
      }),
    )
  })

  test('takes each part whole, from the only side that changed it or, in a conflict, from the chosen side', () => {
    const choice = fc.constantFrom<Choice>('mine', 'theirs')
    fc.assert(
      fc.property(three, fc.array(choice), ({ base, theirs, mine }, picks) => {
        const parts = compareThree(base, theirs, mine)
        const choices = new Map(parts.map(({ key }, n) => [key, picks[n] ?? 'mine']))
        const result = merged(parts, choices)
        for (const { key, outcome } of parts) {
          const side = outcome === 'theirs' || (outcome === 'conflict' && choices.get(key) === 'theirs') ? theirs : mine
          const differing = differenceOf(side, result).parts.map((part) => part.key)
          expect(differing).not.toContain(key)
        }
        const named = new Set([theirs, mine].flatMap((graph) => [...unitsOf(graph).keys()]))
        for (const key of unitsOf(result).keys()) expect(named).toContain(key)
      }),
    )
  })

  const base = addNode(newGraph, { kind: 'template', position: { x: 0, y: 0 } }).graph
  const say = (graph: Graph, template: string) => setField(graph, 'template', 'template', template)

  test('reports a node changed on both sides as a conflict and takes the chosen version', () => {
    const [theirs, mine] = [say(base, 'theirs'), say(base, 'mine')]
    expect(outcomes(base, theirs, mine)).toEqual({ 'node template': 'conflict' })
    const parts = compareThree(base, theirs, mine)
    expect(merged(parts, none)).toEqual(mine)
    expect(merged(parts, new Map([['node template', 'theirs']]))).toEqual(theirs)
  })

  test('reports a node removed on one side and connected on the other as a conflict', () => {
    const theirs = removeNodes(base, new Set(['template']))
    const mine = connect(base, { from: 'in.text', to: 'template.text' })
    expect(outcomes(base, theirs, mine)).toEqual({ 'node template': 'conflict' })
  })

  test('keeps the nodes that both sides added under one ID, each with its edges', () => {
    const theirs = say(connect(base, { from: 'in.text', to: 'template.text' }), 'theirs')
    const mine = say(connect(base, { from: 'template.text', to: 'out.text' }), 'mine')
    const { graph, renamed } = withOwnIds({ base: newGraph, theirs, mine })
    const result = merge(newGraph, theirs, graph)
    expect([...renamed]).toEqual([['template', 'template-2']])
    expect(result.nodes.map(({ id, template }) => [id, template])).toEqual([
      ['in', undefined],
      ['out', undefined],
      ['template', 'theirs'],
      ['template-2', 'mine'],
    ])
    expect(result.edges).toContainEqual({ from: 'in.text', to: 'template.text' })
    expect(result.edges).toContainEqual({ from: 'template-2.text', to: 'out.text' })
    expect(withOwnIds({ base: newGraph, theirs, mine: theirs }).graph).toBe(theirs)
    expect(withOwnIds({ base, theirs, mine }).graph).toBe(mine)
  })

  test('keeps the notes that both sides added under one ID', () => {
    const note = { id: 'note-1', color: 'yellow' as const, position: { x: 0, y: 0 }, size: { width: 1, height: 1 } }
    const noted = (text: string): Graph => ({ ...base, notes: [{ ...note, text }] })
    const [theirs, mine] = [noted('theirs'), noted('mine')]
    const result = merge(base, theirs, withOwnIds({ base, theirs, mine }).graph)
    expect(result.notes?.map(({ id, text }) => [id, text])).toEqual([
      ['note-1', 'theirs'],
      ['note-2', 'mine'],
    ])
  })

  test('merges node positions separately from node content; if both sides moved a node, mine wins', () => {
    const theirs = moveNodes(base, new Map([['template', { x: 7, y: 8 }]]))
    const result = merge(base, theirs, say(base, 'mine'))
    expect(result.nodes[2]).toMatchObject({ template: 'mine', position: { x: 7, y: 8 } })
    const both = merge(base, theirs, moveNodes(base, new Map([['template', { x: 1, y: 2 }]])))
    expect(both.nodes[2]).toMatchObject({ position: { x: 1, y: 2 } })
  })

  test('keeps the position of a node that theirs stored without one', () => {
    const theirs = say(setField(base, 'template', 'position', undefined), 'theirs')
    expect(merge(base, theirs, base).nodes[2]).toMatchObject({ template: 'theirs', position: { x: 0, y: 0 } })
  })

  test('merges sticky notes one by one', () => {
    const note = { text: '', color: 'yellow' as const, position: { x: 0, y: 0 }, size: { width: 1, height: 1 } }
    const noted = (...ids: string[]): Graph => ({ ...base, notes: ids.map((id) => ({ ...note, id })) })
    expect(merge(noted('a'), noted('a', 'b'), noted('a', 'c')).notes!.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(differenceOf(base, noted('a'))).toMatchObject({
      parts: [{ key: 'note a', change: 'added' }],
      runsTheSame: true,
    })
  })

  test('merges note positions separately from note content; if both sides moved a note, mine wins', () => {
    const note = { id: 'a', text: 'Read', color: 'yellow' as const, size: { width: 1, height: 1 } }
    const noted = (x: number, more: object = {}): Graph => ({
      ...base,
      notes: [{ ...note, position: { x, y: 0 }, ...more }],
    })
    expect(outcomes(noted(0), noted(1), noted(2))).toEqual({})
    expect(merge(noted(0), noted(1), noted(2))).toEqual(noted(2))
    expect(merge(noted(0), noted(1), noted(0))).toEqual(noted(1))
    const theirs = noted(1, { text: 'theirs' })
    expect(merge(noted(0), theirs, noted(2))).toEqual(noted(2, { text: 'theirs' }))
    expect(merge(noted(0), theirs, noted(0, { color: 'blue' }))).toEqual(noted(1, { color: 'blue' }))
    expect(outcomes(noted(0), theirs, noted(0, { color: 'blue' }))).toEqual({ 'note a': 'conflict' })
    expect(differenceOf(noted(0), noted(1)).parts).toEqual([{ key: 'note a', change: 'changed', fields: ['position'] }])
  })

  test('shows the color and size of a note, in which alone two versions may differ', () => {
    const note = { id: 'a', text: 'Read', color: 'yellow' as const, position: { x: 0, y: 0 } }
    const shown = unitText({ part: 'note', note: { ...note, size: { width: 30, height: 20 } } })
    expect(shown).toBe('text: Read\ncolor: yellow\nsize: 30 × 20')
  })

  test('merges each contract field separately', () => {
    const field = (graph: Graph, name: string): Graph => ({
      ...graph,
      input: { ...graph.input, properties: { ...graph.input.properties, [name]: { type: 'number' } } },
    })
    expect(outcomes(base, field(base, 'a'), field(base, 'b'))).toEqual({ 'input a': 'theirs', 'input b': 'mine' })
    expect(Object.keys(merge(base, field(base, 'a'), field(base, 'b')).input.properties)).toEqual(['text', 'a', 'b'])
  })
})

describe('differenceOf', () => {
  test('lists changed nodes with their changed fields', () => {
    const { graph } = addNode(newGraph, { kind: 'template', position: { x: 0, y: 0 } })
    const after = connect(setField(graph, 'template', 'template', 'other'), { from: 'in.text', to: 'template.text' })
    expect(differenceOf(graph, after)).toEqual({
      parts: [{ key: 'node template', change: 'changed', fields: ['template', 'edges'] }],
      moved: [],
      runsTheSame: false,
    })
    expect(differenceOf(newGraph, graph).parts).toMatchObject([{ key: 'node template', change: 'added' }])
    expect(differenceOf(graph, newGraph).parts).toMatchObject([{ key: 'node template', change: 'removed' }])
  })

  test('reports that a graph runs the same if its nodes only moved', () => {
    fc.assert(
      fc.property(validFlow(), ({ graph }) => {
        const moved = moveNodes(graph, new Map(nodeKeys(graph).map((key) => [key, { x: 5, y: 5 }])))
        expect(differenceOf(graph, moved)).toEqual({
          parts: [],
          moved: graph.nodes.map(({ id }) => id),
          runsTheSame: true,
        })
      }),
    )
  })
})
