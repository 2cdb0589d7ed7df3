import type { Graph } from '@gateway/api/graph'

const text = { type: 'string' }
const side = (properties: Graph['input']['properties']): Graph['input'] => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Returns its input; has no paid nodes. */
export const echo: Graph = {
  input: side({ text }),
  output: side({ text }),
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}

/** Calls one product. */
export const asking = (product: string): Graph => ({
  ...echo,
  nodes: [...echo.nodes, { id: 'ask', kind: 'product.chat', product }],
  edges: [
    { from: 'in.text', to: 'ask.prompt' },
    { from: 'ask.text', to: 'out.text' },
  ],
})

/** Unfinished flow: its output has no source. */
export const unwired: Graph = { ...echo, edges: [] }

/** Has two text outputs, so it is not chat-compatible. */
export const twofold: Graph = {
  ...echo,
  output: side({ text, again: text }),
  edges: [...echo.edges, { from: 'in.text', to: 'out.again' }],
}
