import { chatLimits } from '@gateway/api/limits'

// Parameters of a chat, as people type them. Their ranges are those of the contract, so that nothing is sent that is refused for them.

type Read = { value: unknown } | { fault: string }

export interface Parameter {
  name: string
  label: string
  hint: string
  kind: 'line' | 'lines' | 'json'
  /** @param text what was typed, without the blanks around it, and not empty */
  read(text: string): Read
}

export const parameters: Parameter[] = [
  number('max_tokens', 'Tokens at most', { min: 1, max: chatLimits.maxTokens.max, isInteger: true }),
  number('temperature', 'Temperature', chatLimits.temperature),
  number('top_p', 'Top P', { min: 0, max: chatLimits.topP.max, isAbove: true }),
  number(
    'seed',
    'Seed',
    { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, isInteger: true },
    'An integer.',
  ),
  number('frequency_penalty', 'Frequency penalty', { min: -2, max: 2 }),
  number('presence_penalty', 'Presence penalty', { min: -2, max: 2 }),
  choice('reasoning_effort', 'Reasoning effort', ['minimal', 'low', 'medium', 'high']),
  choice('verbosity', 'Verbosity', ['low', 'medium', 'high']),
  { name: 'stop', label: 'Stop at', hint: 'A text a line, four at most.', kind: 'lines', read: readStops },
  json('tools', 'Tools', 'A list, as the OpenAI API has it.', Array.isArray),
  json('tool_choice', 'Tool choice', '"auto", "none", "required" or a function.', () => true),
  json('response_format', 'Response format', 'Such as {"type": "json_object"}.', isObject),
]

/** Those that one of the models takes, or that do no harm to it. */
export function shownParameters(supported: readonly string[]): Parameter[] {
  return parameters.filter(({ name }) => name === 'max_tokens' || supported.includes(name))
}

/** What is sent, and what is wrong with what was typed, by the names of the parameters. */
export function readParameters(typed: Readonly<Record<string, string>>, shown: readonly Parameter[]) {
  const values: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  for (const { name, read } of shown) {
    const text = (typed[name] ?? '').trim()
    if (text === '') continue
    const found = read(text)
    if ('fault' in found) faults[name] = found.fault
    else values[name] = found.value
  }
  return { values, faults }
}

interface Range {
  min: number
  max: number
  isInteger?: boolean
  /** More than the least. */
  isAbove?: boolean
}

function number(
  name: string,
  label: string,
  { min, max, isInteger = false, isAbove = false }: Range,
  hint = `${isAbove ? 'Above' : 'From'} ${min} to ${max}.`,
): Parameter {
  const read = (text: string): Read => {
    const value = Number(text)
    const isFit = value >= min && value <= max && !(isAbove && value === min) && (!isInteger || Number.isInteger(value))
    return isFit ? { value } : { fault: `Write ${isInteger ? 'a whole number' : 'a number'}. ${hint}` }
  }
  return { name, label, hint, kind: 'line', read }
}

function choice(name: string, label: string, known: string[]): Parameter {
  const hint = `Such as ${known.join(', ')}.`
  return { name, label, hint, kind: 'line', read: (text) => ({ value: text }) }
}

function json(name: string, label: string, hint: string, isFit: (value: unknown) => boolean): Parameter {
  const read = (text: string): Read => {
    try {
      const value: unknown = JSON.parse(text)
      return isFit(value) ? { value } : { fault: hint }
    } catch (error) {
      return { fault: `This is no JSON yet: ${(error as Error).message}.` }
    }
  }
  return { name, label: `${label}, as JSON`, hint, kind: 'json', read }
}

function readStops(text: string): Read {
  const stops = text.split('\n').filter((line) => line !== '')
  const { stopSequences, stopCharacters } = chatLimits
  if (stops.length > stopSequences) return { fault: `At most ${stopSequences} of them.` }
  if (stops.some((stop) => Array.from(stop).length > stopCharacters.max))
    return { fault: `Each has at most ${stopCharacters.max} characters.` }
  return { value: stops }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
