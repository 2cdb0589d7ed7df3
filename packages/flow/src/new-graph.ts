import type { Graph } from '@gateway/api/graph'

/** Graph of a new flow: returns its input. */
export const newGraph: Graph = {
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input', position: { x: 0, y: 0 } },
    { id: 'out', kind: 'output', position: { x: 640, y: 0 } },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}
