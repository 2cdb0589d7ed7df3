import type { Graph } from '@gateway/api/graph'

/** What a flow begins with: it answers what it is given. */
export const newGraph: Graph = {
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input', position: { x: 0, y: 0 } },
    { id: 'out', kind: 'output', position: { x: 640, y: 0 } },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}
