import type { Graph } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'

const OWN = ['in', 'out']
const EDGES_IN = 4

const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }

/** A flow that returns its input. */
export const emptyFlow: Graph = {
  input: text,
  output: text,
  nodes: [
    { id: 'in', kind: 'input', position: { x: 0, y: 0 } },
    { id: 'out', kind: 'output', position: { x: 400, y: 0 } },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}

/** A flow of 50 nodes and 60 edges: a chain of templates that ends in several outputs. */
export function longFlow(): Graph {
  const templates = Array.from({ length: flowLimits.nodes - OWN.length }, (_, n) => `t${n}`)
  const answers = Array.from({ length: LONG_EDGES - templates.length }, (_, n) => `answer${n}`)
  return {
    input: text,
    output: { type: 'object', properties: Object.fromEntries(answers.map((name) => [name, { type: 'string' }])) },
    nodes: [
      { id: 'in', kind: 'input', position: placeOf(0) },
      ...templates.map((id, n) => ({ id, kind: 'template', template: '{{ a }}', position: placeOf(n + 1) })),
      { id: 'out', kind: 'output', position: placeOf(templates.length + 1) },
    ],
    edges: [
      ...templates.map((id, n) => ({ from: n === 0 ? 'in.text' : `${templates[n - 1]!}.text`, to: `${id}.a` })),
      ...answers.map((name, n) => ({ from: `${templates.at(-1 - n)!}.text`, to: `out.${name}` })),
    ],
  }
}

const LONG_EDGES = 60
const ROWS = 5
const placeOf = (n: number) => ({ x: Math.floor(n / ROWS) * 340, y: (n % ROWS) * 190 })

/** A flow with the maximum number of nodes and edges: each template takes the outputs of the four before it. */
export function largestFlow(): Graph {
  const templates = Array.from({ length: flowLimits.nodes - OWN.length }, (_, n) => `t${n}`)
  const before = (n: number) =>
    Array.from({ length: EDGES_IN }, (_, k) => (n - k > 0 ? `${templates[n - 1 - k]!}.text` : 'in.text'))
  const answers = Array.from({ length: flowLimits.edges - templates.length * EDGES_IN }, (_, n) => `answer${n}`)
  return {
    input: text,
    output: { type: 'object', properties: Object.fromEntries(answers.map((name) => [name, { type: 'string' }])) },
    nodes: [
      { id: 'in', kind: 'input' },
      ...templates.map((id) => ({ id, kind: 'template', template: '{{ a }} {{ b }} {{ c }} {{ d }}' })),
      { id: 'out', kind: 'output' },
    ],
    edges: [
      ...templates.flatMap((id, n) => before(n).map((from, k) => ({ from, to: `${id}.${'abcd'[k]!}` }))),
      ...answers.map((name, n) => ({ from: `${templates.at(-1 - n)!}.text`, to: `out.${name}` })),
    ],
  }
}
