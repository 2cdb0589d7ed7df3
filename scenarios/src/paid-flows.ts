import type { Graph } from '@gateway/contracts/graph'

const TEXT = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }

/** A flow of so many paid calls: pairs of them side by side, then one after the other. Each call's prompt names its node. */
export function paidFlow(product: string, calls: number): Graph {
  const nodes: Graph['nodes'] = [{ id: 'in', kind: 'input' }]
  const edges: Graph['edges'] = []
  let from = 'in.text'
  for (let n = 0; n < calls; n += 2) {
    const pair = n + 1 < calls ? [n, n + 1] : [n]
    for (const call of pair) {
      nodes.push({ id: `ask${call}`, kind: 'template', template: `call${call} {{ text }}` })
      nodes.push({ id: `call${call}`, kind: 'product.chat', product, params: { max_tokens: 20 } })
      edges.push({ from, to: `ask${call}.text` }, { from: `ask${call}.text`, to: `call${call}.prompt` })
    }
    // The next pair begins with the execution's own mark, so that each prompt names its execution, whatever the model said.
    const names = pair.map((call) => `a${call}`)
    const join = `join${n}`
    nodes.push({ id: join, kind: 'expression', expression: `size(${names.join(') + size(')}) >= 0 ? text : ''` })
    for (const call of pair) edges.push({ from: `call${call}.text`, to: `${join}.a${call}` })
    edges.push({ from: 'in.text', to: `${join}.text` })
    from = `${join}.value`
  }
  nodes.push({ id: 'out', kind: 'output' })
  edges.push({ from, to: 'out.text' })
  return { input: TEXT, output: TEXT, nodes, edges }
}
