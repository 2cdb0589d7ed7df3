import type { ContractSide, Graph } from '@gateway/contracts/graph'

export const TEXT: ContractSide = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** Text in, as many templates in a row, text out. */
export function chain(length: number): Graph {
  const steps = Array.from({ length }, (_, n) => `t${n}`)
  const ends = ['in', ...steps, 'out']
  return {
    input: TEXT,
    output: TEXT,
    nodes: [
      { id: 'in', kind: 'input' },
      ...steps.map((id) => ({ id, kind: 'template', template: '{{ text }}' })),
      { id: 'out', kind: 'output' },
    ],
    edges: ends.slice(1).map((id, n) => ({ from: `${ends[n]!}.text`, to: `${id}.text` })),
  }
}

/** Text in, calls of a product side by side, one template of all their answers, text out. */
export function fan(products: string[]): Graph {
  const calls = products.map((_, n) => `c${n}`)
  return {
    input: TEXT,
    output: TEXT,
    nodes: [
      { id: 'in', kind: 'input' },
      ...products.map((product, n) => ({ id: calls[n]!, kind: 'product.chat', product })),
      { id: 'all', kind: 'template', template: calls.map((id) => `{{ ${id} }}`).join(' ') },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      ...calls.flatMap((id) => [
        { from: 'in.text', to: `${id}.prompt` },
        { from: `${id}.text`, to: `all.${id}` },
      ]),
      { from: 'all.text', to: 'out.text' },
    ],
  }
}

/** Text in, a call, text out. */
export function oneCall(product: string): Graph {
  return {
    input: TEXT,
    output: TEXT,
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'draft', kind: 'product.chat', product },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'draft.prompt' },
      { from: 'draft.text', to: 'out.text' },
    ],
  }
}
