import type { GraphNode } from '@gateway/api/graph'

const kindLabels: Readonly<Record<string, { title: string; hint: string }>> = {
  input: { title: 'Input', hint: 'Inputs of the flow' },
  output: { title: 'Output', hint: 'Outputs of the flow' },
  template: { title: 'Template', hint: 'Text with placeholders' },
  expression: { title: 'Expression', hint: 'Computed value' },
  branch: { title: 'Branch', hint: 'If/else' },
  constant: { title: 'Constant', hint: 'A fixed value' },
  'product.chat': { title: 'Chat', hint: 'Calls a text model' },
  'product.image': { title: 'Image', hint: 'Generates an image' },
  'product.audio': { title: 'Speech', hint: 'Generates speech' },
}

/** Label of a node kind. An unknown kind is shown by its identifier. */
export function kindTitle(kind: string): { title: string; hint: string } {
  return kindLabels[kind] ?? { title: kind, hint: 'Node kind' }
}

const LONGEST = 72
const ownField: Readonly<Record<string, string>> = {
  template: 'template',
  expression: 'expression',
  branch: 'condition',
  constant: 'value',
  'product.chat': 'product',
  'product.image': 'product',
  'product.audio': 'product',
}

/** One-line summary that tells a node apart from others of its kind. */
export function nodeSummary(node: GraphNode): string {
  const value: unknown = node[ownField[node.kind] ?? '']
  if (value === undefined || value === null) return ''
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ').trim()
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

const MOST_PARAMETERS = 3
const parameterLabels: Readonly<Record<string, string>> = { max_tokens: 'max tokens', top_p: 'top p' }

/** The parameters of a node that calls a product, in one line: `temperature 0.2 · max tokens 300`. */
export function nodeParameters(node: GraphNode): string {
  const params = node['params']
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return ''
  return Object.entries(params)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, MOST_PARAMETERS)
    .map(([name, value]) => `${parameterLabels[name] ?? name.replaceAll('_', ' ')} ${String(value).slice(0, 20)}`)
    .join(' · ')
}
