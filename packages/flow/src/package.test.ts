import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { validFlow } from './generators.fixture.ts'
import { buildPackage, runnerVersion } from './package.ts'

/** Reverses the key order of every object in a JSON value. */
function shuffled<T>(value: T): T {
  if (Array.isArray(value)) return value.map(shuffled) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, held]) => [key, shuffled(held as unknown)]),
  ) as T
}

// spec: 2.3/s17
test('equal graphs have the same digest, and different graphs different ones', () => {
  fc.assert(
    fc.property(validFlow(), validFlow(), ({ graph }, { graph: other }) => {
      const built = buildPackage(graph)
      expect(buildPackage(shuffled(graph))).toMatchObject({ digest: built.digest, text: built.text })
      expect(built.digest).toMatch(/^[0-9a-f]{64}$/)
      expect(buildPackage(JSON.parse(built.text).graph as Graph).digest).toBe(built.digest)
      if (JSON.stringify(graph) !== JSON.stringify(other)) expect(buildPackage(other).digest).not.toBe(built.digest)
    }),
    { numRuns: 200 * inject('propertyShare') },
  )
})

test('titles, descriptions, positions and sticky notes are not part of a package', () => {
  fc.assert(
    fc.property(validFlow(), fc.string(), fc.integer(), ({ graph }, text, x) => {
      const drawn = graph.nodes.map((node) => ({ ...node, title: text, description: text, position: { x, y: 0 } }))
      const size = { width: 200, height: 120 }
      const notes = [{ id: 'n', text, color: 'blue' as const, position: { x, y: 0 }, size }]
      expect(buildPackage({ ...graph, nodes: drawn, notes })).toEqual(buildPackage(graph))
    }),
    { numRuns: 50 * inject('propertyShare') },
  )
})

// spec: 2.3/s17
test('a package contains graph, schemas, manifest and runner version', () => {
  fc.assert(
    fc.property(validFlow(), ({ graph }) => {
      const { package: built, text } = buildPackage(graph)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(built)))
      const called = graph.nodes
        .filter(({ kind }) => kind.startsWith('product.'))
        .map(({ product }) => product as string)
      expect(built.manifest).toEqual([...new Set(called)].toSorted())
      expect(built.runnerVersion).toBe(runnerVersion)
      expect(built.input['additionalProperties']).toBe(false)
    }),
    { numRuns: 50 * inject('propertyShare') },
  )
})

test('packages an expression of unknown type with the type of the port it is wired to', () => {
  const graph: Graph = {
    input: { type: 'object', properties: { o: { type: 'object' } }, required: ['o'] },
    output: { type: 'object', properties: { text: { type: 'string' }, n: { type: 'number' } } },
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'name', kind: 'expression', expression: 'o.name' },
      { id: 'count', kind: 'expression', expression: 'size(o)' },
      { id: 'alone', kind: 'expression', expression: 'o.x' },
      { id: 'b', kind: 'branch', condition: 'x != "secret"' },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.o', to: 'name.o' },
      { from: 'in.o', to: 'count.o' },
      { from: 'in.o', to: 'alone.o' },
      { from: 'name.value', to: 'b.x' },
      { from: 'b.true.x', to: 'out.text' },
      { from: 'count.value', to: 'out.n' },
    ],
  }
  const types = buildPackage(graph).package.graph.nodes.map(({ type }) => type)
  expect(types).toEqual([undefined, 'string', 'number', undefined, undefined, undefined])
})
