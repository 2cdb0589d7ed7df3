import type { Values } from '@gateway/api/execution'
import { utf8Bytes } from '@gateway/api/text-bytes'
import { Budget, CelFailure, celSteps, readExpression, type CelValue, type Expression } from './cel.ts'
import { jsonWithin } from './json-text.ts'
import { rememberedByText } from './remembered.ts'

// Literal text with `{{ CEL }}` holes (flows §2.4). There is no other syntax: a literal `{{` is written {{ "{{" }}.

/** Maximum number of holes: equals the maximum number of edges, because every name in them has to be wired. */
export const templateHoles = 200

export interface Template {
  /** Names in its holes, each once, in order of first use. */
  names: string[]
  /** Expressions of the holes, in order. */
  holes: Expression[]
  /**
   * Renders the text. Strings, numbers and booleans print unchanged, objects and lists as JSON, null as nothing. All
   * holes share one budget of steps.
   * @throws CelFailure if a hole has no value; CelExhausted if they need more steps
   */
  render(values: Values, limitBytes: number, steps?: number): { text: string } | { tooLarge: true }
}

/** Parses a template. The text of each problem follows "The template ". */
export const readTemplate = rememberedByText((source): { template: Template } | { problems: string[] } => {
  const { parts, problem } = split(source)
  if (problem) return { problems: [problem] }
  const problems: string[] = []
  const pieces: (string | Expression)[] = []
  for (const part of parts) {
    if (part.literal !== undefined) pieces.push(part.literal)
    else {
      const read = readExpression(part.hole)
      if ('expression' in read) pieces.push(read.expression)
      else problems.push(`has a hole {{${part.hole.slice(0, 60)}}} whose expression ${read.problem}`)
    }
  }
  const holes = pieces.filter((piece) => typeof piece !== 'string')
  if (holes.length > templateHoles) problems.push(`has ${holes.length} holes, more than ${templateHoles}`)
  if (problems.length > 0) return { problems }
  const names = [...new Set(holes.flatMap((hole) => hole.names))]
  return {
    template: {
      names,
      holes,
      render: (values, limitBytes, steps = celSteps) => render(pieces, values, limitBytes, steps),
    },
  }
})

type Part = { literal: string; hole?: never } | { hole: string; literal?: never }

function split(source: string): { parts: Part[]; problem?: string } {
  const parts: Part[] = []
  let at = 0
  while (at < source.length) {
    const open = source.indexOf('{{', at)
    if (open > at || open < 0) parts.push({ literal: source.slice(at, open < 0 ? undefined : open) })
    if (open < 0) break
    const close = endOfHole(source, open + 2)
    if (close < 0) return { parts, problem: `has a {{ at character ${open + 1} that no }} closes` }
    parts.push({ hole: source.slice(open + 2, close) })
    at = close + 2
  }
  return { parts }
}

/** Returns the index of the `}}` that closes a hole: not within a string, and not closing braces of the expression. */
function endOfHole(source: string, from: number): number {
  let braces = 0
  for (let at = from; at < source.length; at++) {
    const character = source[at]!
    if (character === '"' || character === "'") {
      at = endOfString(source, at)
      if (at < 0) return -1
    } else if (character === '{') braces++
    else if (character === '}' && braces > 0) braces--
    else if (character === '}' && source[at + 1] === '}') return at
  }
  return -1
}

/** Returns the index of the last quote of the string that begins with this quote, or with three of them. */
function endOfString(source: string, from: number): number {
  const quote = source[from]!
  const closing = source.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  for (let at = from + closing.length; at < source.length; at++) {
    if (source[at] === '\\') at++
    else if (source.startsWith(closing, at)) return at + closing.length - 1
  }
  return -1
}

function render(
  pieces: (string | Expression)[],
  values: Values,
  limitBytes: number,
  steps: number,
): { text: string } | { tooLarge: true } {
  const budget = new Budget(steps)
  const printed: string[] = []
  let bytes = 0
  for (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : print(piece.evaluate(values, budget), limitBytes)
    if (text === null) return { tooLarge: true }
    if (bytes + text.length > limitBytes || (bytes += utf8Bytes(text)) > limitBytes) return { tooLarge: true }
    printed.push(text)
  }
  return { text: printed.join('') }
}

/** Returns the text of a value, or null if it exceeds the limit. */
function print(value: CelValue, limitBytes: number): string | null {
  if (value === null) return ''
  if (typeof value !== 'object') return String(value)
  const json = jsonWithin(value, limitBytes)
  if (json.ok) return json.text
  if (json.why === 'too-deep') throw new CelFailure('a value is nested too deeply')
  return null
}
