import { NotInWireFormat } from '../wire-format.ts'

/** Tokens, by the table of https://ai.google.dev/gemini-api/docs/openai#thinking. */
const budgets: Record<string, number> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 }
const levels = new Set(['minimal', 'low', 'medium', 'high'])

/**
 * `reasoning_effort`: models up to 2.5 think within a budget of tokens, newer ones at a level and never not at all. Where it
 * is asked for, a summary of what was thought is too. Throws `NotInWireFormat`.
 */
export function thinkingOf(model: string, effort: unknown): object {
  if (effort === undefined) return {}
  const known = typeof effort === 'string' ? effort : ''
  if (/^gemini-[12]\b/.test(model)) {
    if (!Object.hasOwn(budgets, known)) throw unknownEffort('none, minimal, low, medium or high')
    return { thinkingConfig: { thinkingBudget: budgets[known], ...(known !== 'none' && { includeThoughts: true }) } }
  }
  if (!levels.has(known)) throw unknownEffort('minimal, low, medium or high')
  return { thinkingConfig: { thinkingLevel: known, includeThoughts: true } }
}

function unknownEffort(those: string): NotInWireFormat {
  return new NotInWireFormat('reasoning_effort', 'is none that this model knows', `send ${those}`)
}
