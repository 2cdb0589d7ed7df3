import type { Graph } from '@gateway/api/graph'

const text = { type: 'string' }
const side = (properties: Graph['input']['properties']): Graph['input'] => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Answers what it is given; nothing in it is paid. */
export const echo: Graph = {
  input: side({ text }),
  output: side({ text }),
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}

/** Asks one product. */
export const asking = (product: string): Graph => ({
  ...echo,
  nodes: [...echo.nodes, { id: 'ask', kind: 'product.chat', product }],
  edges: [
    { from: 'in.text', to: 'ask.prompt' },
    { from: 'ask.text', to: 'out.text' },
  ],
})

/** A flow in the middle of its making: its output has no source. */
export const unwired: Graph = { ...echo, edges: [] }

/** Has two texts out, so it is not a chat model. */
export const twofold: Graph = {
  ...echo,
  output: side({ text, again: text }),
  edges: [...echo.edges, { from: 'in.text', to: 'out.again' }],
}
