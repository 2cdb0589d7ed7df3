import { expect } from 'vitest'
import type { OutputForm } from './part-of-guide.ts'

const ANYTHING = '…'

/**
 * Compares printed output with the output in a guide. `…` matches anything within a text or as a JSON value; as a field name it matches
 * all fields that aren't shown.
 */
export function expectShown(form: OutputForm, shown: string, printed: string): void {
  if (form === 'json') return expect(JSON.parse(printed)).toEqual(patternOf(jsonOf(shown)))
  if (form === 'ndjson')
    return expect(linesOf(printed).map((line) => JSON.parse(line) as unknown)).toEqual(
      linesOf(shown).map((line) => patternOf(jsonOf(line))),
    )
  expect(printed.replaceAll('\r', '').trim()).toMatch(textPattern(shown.trim()))
}

/** Parses JSON in which … may stand for a number or an object. */
function jsonOf(shown: string): unknown {
  return JSON.parse(shown.replaceAll(/([:[,]\s*)…/g, `$1"${ANYTHING}"`))
}

function patternOf(shown: unknown): unknown {
  if (shown === ANYTHING) return expect.toSatisfy(() => true)
  if (typeof shown === 'string') return shown.includes(ANYTHING) ? expect.stringMatching(textPattern(shown)) : shown
  if (Array.isArray(shown)) return shown.map(patternOf)
  if (typeof shown !== 'object' || shown === null) return shown
  const { [ANYTHING]: more, ...fields } = shown as Record<string, unknown>
  const pattern = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, patternOf(value)]))
  return more === undefined ? pattern : expect.objectContaining(pattern)
}

function textPattern(shown: string): RegExp {
  return new RegExp(`^${shown.split(ANYTHING).map(literal).join('[^]*?')}$`)
}

const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
