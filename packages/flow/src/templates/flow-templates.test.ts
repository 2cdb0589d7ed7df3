import { expect, test } from 'vitest'
import { graph as graphShape } from '@gateway/api/graph'
import { graphWarnings } from '../graph/warnings.ts'
import { validateGraph, type ProductFacts } from '../validate-graph.ts'
import { fillTemplate, flowTemplates, type FlowTemplate, type TemplateSlot } from './flow-templates.ts'

/** A product that has what the slot needs, and nothing else. */
const productFor = ({ kind, needs }: TemplateSlot): ProductFacts => ({
  kind,
  assigned: true,
  supportedParameters: needs === 'json' ? ['response_format'] : [],
  maxOutputTokens: 4_096,
  contextLength: 16_384,
  takesImages: needs === 'images',
})
const productsOf = ({ slots }: FlowTemplate) =>
  new Map(Object.entries(slots).map(([name, slot]) => [`acme/${name}`, productFor(slot)]))
const filled = (template: FlowTemplate) =>
  fillTemplate(template, Object.fromEntries(Object.keys(template.slots).map((name) => [name, `acme/${name}`])))

test('has ten templates with different IDs and titles', () => {
  expect(new Set(flowTemplates.map(({ id }) => id)).size).toBe(10)
  expect(new Set(flowTemplates.map(({ title }) => title)).size).toBe(10)
})

test.for(flowTemplates.map((template) => [template.id, template] as const))(
  'the template %s has no problems and no warnings once its slots have products of their kind',
  ([, template]) => {
    const graph = filled(template)
    expect(graphShape.safeParse(graph).success).toBe(true)
    expect(validateGraph(graph, productsOf(template))).toEqual([])
    expect(graphWarnings(graph)).toEqual([])
  },
)

test.for(flowTemplates.map((template) => [template.id, template] as const))(
  'the template %s uses each of its slots, and reaches each output',
  ([, template]) => {
    const { nodes, edges, output } = template.graph
    const used = nodes.flatMap(({ product }) => (product === undefined ? [] : [product]))
    expect(new Set(used)).toEqual(new Set(Object.keys(template.slots)))
    const reached = edges.flatMap(({ to }) => (to.startsWith('out.') ? [to.slice('out.'.length)] : []))
    expect(new Set(reached)).toEqual(new Set(Object.keys(output.properties)))
  },
)
