import type { Graph } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'

const OWN = ['in', 'out']
const EDGES_IN = 4

/** A flow with the maximum number of nodes and edges: each template takes the outputs of the four before it. */
export function largestFlow(): Graph {
  const templates = Array.from({ length: flowLimits.nodes - OWN.length }, (_, n) => `t${n}`)
  const before = (n: number) =>
    Array.from({ length: EDGES_IN }, (_, k) => (n - k > 0 ? `${templates[n - 1 - k]!}.text` : 'in.text'))
  const answers = Array.from({ length: flowLimits.edges - templates.length * EDGES_IN }, (_, n) => `answer${n}`)
  return {
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
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
