import type { GraphProblem } from '@gateway/api/graph'

const params = [
  'max_tokens',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'tool_choice',
  'tools',
  'response_format',
] as const
const ofText = new Set(['expression_invalid', 'template_invalid'])

/**
 * Field of the form that a problem of a node belongs to: `text` of a template or expression, `product`, `value`, or the
 * name of a parameter. null if it belongs to a port, or to the node as a whole.
 */
export function fieldOfProblem({ code, port, message }: GraphProblem, kind: string): string | null {
  if (port !== null) return null
  if (ofText.has(code)) return 'text'
  if (code === 'params_invalid' || code === 'param_unsupported')
    return params.find((name) => new RegExp(`\\b${name}\\b`).test(message)) ?? null
  const isOfProduct = kind.startsWith('product.')
  if (isOfProduct)
    return code.startsWith('product_') || (code === 'field_invalid' && /\bproduct\b/.test(message)) ? 'product' : null
  if (kind === 'constant') return ['field_invalid', 'value_too_large'].includes(code) ? 'value' : null
  return code === 'field_invalid' && /needs (?:template|expression|condition),/.test(message) ? 'text' : null
}

/** What to say below a field: its problems and how to fix them, or null. */
export function faultOfField(problems: readonly GraphProblem[], kind: string, field: string): string | null {
  const own = problems.filter((problem) => fieldOfProblem(problem, kind) === field)
  return own.length === 0 ? null : own.map(({ message, resolution }) => `${message} ${resolution}`).join(' ')
}
