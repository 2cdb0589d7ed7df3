import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { validFlow } from '@gateway/flow/generators'
import { changedFlow } from '@gateway/flow/changed-flow'
import { differenceOf } from '@gateway/flow/compare/difference'
import { graphOf, unitsOf } from '@gateway/flow/compare/graph-units'
import { compareThree, merged, type Choice } from '@gateway/flow/compare/merge'
import { newGraph } from './new-graph.ts'
import { addNode, connect, moveNodes, removeNodes, setField } from './node-commands.ts'
import { nodeKeys } from './node-keys.ts'
import { changedBy, randomChange } from './random-change.fixture.ts'

/** A graph and two that were made of it. */
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

describe('a merge of three graphs', () => {
  test('the parts of a graph are the graph', () => {
    fc.assert(
      fc.property(changedFlow, ({ graph }) => {
        expect(same(graphOf(unitsOf(graph).values()), graph)).toBe(true)
      }),
    )
  })

  test('is what one side made where the other did nothing', () => {
    fc.assert(
      fc.property(three, ({ base, mine }) => {
        expect(same(merge(base, base, mine), mine)).toBe(true)
        expect(same(merge(base, mine, base), mine)).toBe(true)
        expect(same(merge(base, mine, mine), mine)).toBe(true)
      }),
    )
  })

  test('loses nothing that either wrote: each part is the chosen one whole, and what only one changed is as they left it', () => {
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

  test('a node that both changed is a conflict, and whichever is chosen is there', () => {
    const [theirs, mine] = [say(base, 'theirs'), say(base, 'mine')]
    expect(outcomes(base, theirs, mine)).toEqual({ 'node template': 'conflict' })
    const parts = compareThree(base, theirs, mine)
    expect(merged(parts, none)).toEqual(mine)
    expect(merged(parts, new Map([['node template', 'theirs']]))).toEqual(theirs)
  })

  test('one that was taken away there and led to here is a conflict', () => {
    const theirs = removeNodes(base, new Set(['template']))
    const mine = connect(base, { from: 'in.text', to: 'template.text' })
    expect(outcomes(base, theirs, mine)).toEqual({ 'node template': 'conflict' })
  })

  test('anyone who moved a node moved it, whose words it has', () => {
    const theirs = moveNodes(base, new Map([['template', { x: 7, y: 8 }]]))
    const result = merge(base, theirs, say(base, 'mine'))
    expect(result.nodes[2]).toMatchObject({ template: 'mine', position: { x: 7, y: 8 } })
    const both = merge(base, theirs, moveNodes(base, new Map([['template', { x: 1, y: 2 }]])))
    expect(both.nodes[2]).toMatchObject({ position: { x: 1, y: 2 } })
  })

  test('fields of the contract are their own parts', () => {
    const field = (graph: Graph, name: string): Graph => ({
      ...graph,
      input: { ...graph.input, properties: { ...graph.input.properties, [name]: { type: 'number' } } },
    })
    expect(outcomes(base, field(base, 'a'), field(base, 'b'))).toEqual({ 'input a': 'theirs', 'input b': 'mine' })
    expect(Object.keys(merge(base, field(base, 'a'), field(base, 'b')).input.properties)).toEqual(['text', 'a', 'b'])
  })
})

describe('a difference of two graphs', () => {
  test('is named by node and field', () => {
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

  test('boxes that were only moved run the same', () => {
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
