import { chatLimits } from '@gateway/api/limits'

// Chat parameters as typed by the user. Ranges come from the API limits, so an out-of-range value is caught before
// sending.

type Read = { value: unknown } | { fault: string }

export interface Parameter {
  name: string
  label: string
  hint: string
  kind: 'line' | 'lines' | 'json'
  slider?: Slider
  /** @param text typed text, trimmed and not empty */
  read(text: string): Read
}

export interface Slider {
  min: number
  max: number
  step: number
  /** Value of most models if none is set. */
  usual: number
}

const { maxTokens, temperature, topP } = chatLimits
export const parameters: Parameter[] = [
  sliding(number('max_tokens', 'Max output tokens', { min: 1, max: maxTokens.max, isInteger: true }), {
    min: 1,
    max: maxTokens.max,
    step: 1,
    usual: maxTokens.max,
  }),
  sliding(number('temperature', 'Temperature', temperature), { ...temperature, step: 0.1, usual: 1 }),
  sliding(number('top_p', 'Top P', { min: 0, max: topP.max, isAbove: true }), {
    min: 0.05,
    max: topP.max,
    step: 0.05,
    usual: 1,
  }),
  number(
    'seed',
    'Seed',
    { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, isInteger: true },
    'An integer.',
  ),
  sliding(number('frequency_penalty', 'Frequency penalty', { min: -2, max: 2 }), penalty()),
  sliding(number('presence_penalty', 'Presence penalty', { min: -2, max: 2 }), penalty()),
  choice('reasoning_effort', 'Reasoning effort', ['minimal', 'low', 'medium', 'high']),
  choice('verbosity', 'Verbosity', ['low', 'medium', 'high']),
  { name: 'stop', label: 'Stop sequences', hint: 'One per line, up to four.', kind: 'lines', read: readStops },
  json('tools', 'Tools', 'A JSON array in the OpenAI format.', Array.isArray),
  json('tool_choice', 'Tool choice', '"auto", "none", "required" or a function.', () => true),
  json('response_format', 'Response format', 'For example {"type": "json_object"}.', isObject),
]

/** Parameters that at least one of the models supports. */
export function shownParameters(supported: readonly string[]): Parameter[] {
  return parameters.filter(({ name }) => name === 'max_tokens' || supported.includes(name))
}

/** Values to send and errors, by parameter name. */
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
  /** The minimum itself is excluded. */
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
    return isFit ? { value } : { fault: `Enter ${isInteger ? 'a whole number' : 'a number'}. ${hint}` }
  }
  return { name, label, hint, kind: 'line', read }
}

function sliding(parameter: Parameter, slider: Slider): Parameter {
  return { ...parameter, hint: `${parameter.hint} Usual default: ${slider.usual}.`, slider }
}

function penalty(): Slider {
  return { min: -2, max: 2, step: 0.1, usual: 0 }
}

function choice(name: string, label: string, known: string[]): Parameter {
  const hint = `For example ${known.join(', ')}.`
  return { name, label, hint, kind: 'line', read: (text) => ({ value: text }) }
}

function json(name: string, label: string, hint: string, isFit: (value: unknown) => boolean): Parameter {
  const read = (text: string): Read => {
    try {
      const value: unknown = JSON.parse(text)
      return isFit(value) ? { value } : { fault: hint }
    } catch (error) {
      return { fault: `Invalid JSON: ${(error as Error).message}.` }
    }
  }
  return { name, label: `${label} (JSON)`, hint, kind: 'json', read }
}

function readStops(text: string): Read {
  const stops = text.split('\n').filter((line) => line !== '')
  const { stopSequences, stopCharacters } = chatLimits
  if (stops.length > stopSequences) return { fault: `Enter at most ${stopSequences} stop sequences.` }
  if (stops.some((stop) => Array.from(stop).length > stopCharacters.max))
    return { fault: `A stop sequence has at most ${stopCharacters.max} characters.` }
  return { value: stops }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
