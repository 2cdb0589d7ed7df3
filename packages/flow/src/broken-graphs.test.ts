import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { changedFlow, junk } from './changed-flow.fixture.ts'
import { runInMemory } from './in-memory-run.fixture.ts'
import { validateGraph } from './validate-graph.ts'

test('reports the problems of any mutated graph, and runs one without problems to its end', () => {
  let sound = 0
  let broken = 0
  fc.assert(
    fc.property(changedFlow, (flow) => {
      const problems = validateGraph(flow.graph, flow.products)
      if (problems.length > 0) {
        broken++
        for (const { message, resolution } of problems)
          expect([message.length > 0, resolution.length > 0]).toEqual([true, true])
        return
      }
      sound++
      const { states } = runInMemory(flow, () => 0)
      expect(states).not.toContain('Running')
    }),
    { numRuns: 1500 * inject('propertyShare') },
  )
  // About one in ten is valid; in a small sample there may be far fewer.
  expect(sound).toBeGreaterThan(30 * inject('propertyShare'))
  expect(broken).toBeGreaterThan(100 * inject('propertyShare'))
})

test('validates a graph with arbitrary fields without throwing', () => {
  const side = fc.record({
    type: fc.constant('object' as const),
    properties: fc.dictionary(fc.string(), fc.record({ type: fc.string(), enum: fc.constant(undefined) })),
    required: fc.array(fc.string()),
  })
  const kind = fc.constantFrom(
    'input',
    'output',
    'template',
    'expression',
    'branch',
    'constant',
    'product.chat',
    'product.image',
    'other',
  )
  const nodes = fc.array(
    fc.record(
      {
        id: fc.string(),
        kind,
        template: junk,
        expression: junk,
        condition: junk,
        value: junk,
        product: junk,
        params: junk,
        type: junk,
      },
      { requiredKeys: ['id', 'kind'] },
    ),
  )
  const edges = fc.array(fc.record({ from: fc.string(), to: fc.string() }))
  fc.assert(
    fc.property(fc.record({ input: side, output: side, nodes, edges }), (graph) => {
      expect(Array.isArray(validateGraph(graph as Graph, new Map()))).toBe(true)
    }),
    { numRuns: 1000 * inject('propertyShare') },
  )
})
