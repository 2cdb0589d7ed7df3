import { readExpression } from '@gateway/flow/cel'
import { readTemplate } from '@gateway/flow/template'
import type { CodeFault } from '../../components/code-mirror.ts'

/** What the checker of expressions cannot read, with its place in the text. */
export function expressionFaults(text: string, isTemplate: boolean): CodeFault[] {
  if (isTemplate) {
    const read = readTemplate(text)
    return 'problems' in read
      ? read.problems.map((problem) => ({ ...placeIn(text, problem), message: `The template ${problem}.` }))
      : []
  }
  if (text.trim() === '') return []
  const read = readExpression(text)
  return 'problem' in read ? [{ from: 0, to: text.length, message: `The expression ${read.problem}.` }] : []
}

/** Place of the hole that a problem of a template is about, or all of the text. */
function placeIn(text: string, problem: string): { from: number; to: number } {
  const open = /^has a \{\{ at character (\d+)/.exec(problem)
  if (open) return { from: Number(open[1]) - 1, to: text.length }
  const hole = /^has a hole (\{\{[\s\S]*?)\}\} whose expression/.exec(problem)
  const from = hole ? text.indexOf(hole[1]!) : -1
  if (from < 0) return { from: 0, to: text.length }
  const close = text.indexOf('}}', from)
  return { from, to: close < 0 ? text.length : close + 2 }
}
