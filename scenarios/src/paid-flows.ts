import type { Graph } from '@gateway/api/graph'

const TEXT = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }

/** A flow with this many paid calls, in a sequence of parallel pairs. Each call's prompt names its node. */
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
    // The next pair starts from the execution's input, so each prompt names its execution regardless of the model's answer.
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

/**
 * A flow with this many paid calls. Each waits for a random subset of the earlier ones, and some run only if the text has an even length.
 * As in `paidFlow`, each call's prompt names its node and the text, regardless of the model's answer.
 * @param chance returns the next random number from 0 to 1
 */
export function wovenFlow(product: string, calls: number, chance: () => number): Graph {
  const nodes: Graph['nodes'] = [{ id: 'in', kind: 'input' }]
  const edges: Graph['edges'] = [{ from: 'in.text', to: 'out.text' }]
  const taken = new Set<string>()
  for (let call = 0; call < calls; call++) {
    const before = Array.from({ length: call }, (_, n) => `call${n}`).filter(() => chance() < 0.35)
    let from = 'in.text'
    if (before.length > 0) {
      const sizes = before.map((id) => `size(${id})`).join(' + ')
      nodes.push({ id: `join${call}`, kind: 'expression', expression: `${sizes} >= 0 ? text : ''` })
      edges.push(...before.map((id) => ({ from: `${id}.text`, to: `join${call}.${id}` })))
      edges.push({ from: 'in.text', to: `join${call}.text` })
      from = `join${call}.value`
    }
    if (chance() < 0.2) {
      nodes.push({ id: `even${call}`, kind: 'branch', condition: 'size(text) % 2 == 0' })
      edges.push({ from, to: `even${call}.text` })
      from = `even${call}.true.text`
    }
    nodes.push({ id: `ask${call}`, kind: 'template', template: `call${call} {{ text }}` })
    nodes.push({ id: `call${call}`, kind: 'product.chat', product, params: { max_tokens: 20 } })
    edges.push({ from, to: `ask${call}.text` }, { from: `ask${call}.text`, to: `call${call}.prompt` })
    before.forEach((id) => taken.add(id))
  }
  const last = Array.from({ length: calls }, (_, n) => `call${n}`).filter((id) => !taken.has(id))
  nodes.push({ id: 'out', kind: 'output' })
  edges.push(...last.map((id) => ({ from: `${id}.text`, to: `out.${id}` })))
  const properties = Object.fromEntries(last.map((id) => [id, { type: 'string' }]))
  const output = { ...TEXT, properties: { ...TEXT.properties, ...properties } }
  return { input: TEXT, output, nodes, edges }
}
