import { CelFailure, keysOf, type Budget, type CelType, type CelValue } from './values.ts'

// Functions of expressions. Characters are code points, as in CEL. Each function spends steps before it does the work.

export interface CelFunction {
  /** Types of the arguments; the receiver of a method is the first. */
  takes: CelType[]
  gives: CelType
  run: (budget: Budget, ...args: never[]) => CelValue
}

type Row = [takes: CelType[], gives: CelType, run: CelFunction['run']]
type Map_ = { [key: string]: CelValue }

/** A Map never reads a prototype, so `constructor` finds nothing. */
function table(rows: Record<string, Row[]>): ReadonlyMap<string, CelFunction[]> {
  return new Map(
    Object.entries(rows).map(([name, overloads]) => [
      name,
      overloads.map(([takes, gives, run]) => ({ takes, gives, run })),
    ]),
  )
}

const sizes: Row[] = [
  [['string'], 'number', (budget, text: string) => points(text, budget)],
  [['list'], 'number', (_, list: CelValue[]) => list.length],
  [['object'], 'number', (budget, map: Map_) => keysOf(map, budget).length],
]

/** Called as `name(…)`. */
export const globals = table({
  size: sizes,
  string: [
    [['string'], 'string', (_, text: string) => text],
    [['number'], 'string', (_, number: number) => String(number)],
    [['boolean'], 'string', (_, boolean: boolean) => String(boolean)],
  ],
  double: [
    [['number'], 'number', (_, number: number) => number],
    [['string'], 'number', (budget, text: string) => numberOf(text, budget)],
  ],
  int: [
    [['number'], 'number', (_, number: number) => Math.trunc(number)],
    [['string'], 'number', (budget, text: string) => Math.trunc(numberOf(text, budget))],
  ],
  bool: [
    [['boolean'], 'boolean', (_, boolean: boolean) => boolean],
    [['string'], 'boolean', (_, text: string) => booleanOf(text)],
  ],
  dyn: [[['dyn'], 'dyn', (_, value: CelValue) => value]],
})

/** Called as `value.name(…)`. */
export const methods = table({
  size: sizes,
  contains: [[['string', 'string'], 'boolean', (budget, text: string, part: string) => find(text, part, budget) >= 0]],
  startsWith: [
    [
      ['string', 'string'],
      'boolean',
      (budget, text: string, part: string) => (budget.spendText(part.length), text.startsWith(part)),
    ],
  ],
  endsWith: [
    [
      ['string', 'string'],
      'boolean',
      (budget, text: string, part: string) => (budget.spendText(part.length), text.endsWith(part)),
    ],
  ],
  lowerAscii: [
    [['string'], 'string', (budget, text: string) => mapAscii(text, /[A-Z]+/g, (run) => run.toLowerCase(), budget)],
  ],
  upperAscii: [
    [['string'], 'string', (budget, text: string) => mapAscii(text, /[a-z]+/g, (run) => run.toUpperCase(), budget)],
  ],
  trim: [[['string'], 'string', (budget, text: string) => (budget.spendText(text.length), text.trim())]],
  indexOf: [
    [
      ['string', 'string'],
      'number',
      (budget, text: string, part: string) => pointsBefore(text, find(text, part, budget), budget),
    ],
  ],
  lastIndexOf: [
    [
      ['string', 'string'],
      'number',
      (budget, text: string, part: string) => {
        spendSearch(text, part, budget)
        return pointsBefore(text, text.lastIndexOf(part), budget)
      },
    ],
  ],
  substring: [
    [['string', 'number'], 'string', (budget, text: string, from: number) => cut(text, from, null, budget)],
    [
      ['string', 'number', 'number'],
      'string',
      (budget, text: string, from: number, to: number) => cut(text, from, to, budget),
    ],
  ],
  split: [
    [['string', 'string'], 'list', (budget, text: string, separator: string) => pieces(text, separator, budget)],
    [
      ['string', 'string', 'number'],
      'list',
      (budget, text: string, separator: string, maxPieces: number) => {
        const all = pieces(text, separator, budget)
        if (maxPieces < 0 || all.length <= maxPieces) return all
        if (maxPieces === 0) return []
        return [...all.slice(0, maxPieces - 1), all.slice(maxPieces - 1).join(separator)]
      },
    ],
  ],
  replace: [
    [
      ['string', 'string', 'string'],
      'string',
      (budget, text: string, part: string, by: string) => joined(pieces(text, part, budget), by, budget),
    ],
  ],
  join: [
    [['list'], 'string', (budget, list: CelValue[]) => joined(list, '', budget)],
    [['list', 'string'], 'string', (budget, list: CelValue[], by: string) => joined(list, by, budget)],
  ],
})

const SURROGATE = /[\ud800-\udfff]/

function points(text: string, budget: Budget): number {
  budget.spendText(text.length)
  if (!SURROGATE.test(text)) return text.length
  budget.spend(text.length / 4)
  let count = 0
  for (const _ of text) count++
  return count
}

/** Keeps -1, which means not found. */
function pointsBefore(text: string, at: number, budget: Budget): number {
  return at < 0 ? -1 : points(text.slice(0, at), budget)
}

/** In the worst case a search compares every character of one text with every character of the other. */
function spendSearch(text: string, part: string, budget: Budget): void {
  budget.spend(1 + text.length / 2 + (text.length * part.length) / 128)
}

function find(text: string, part: string, budget: Budget): number {
  spendSearch(text, part, budget)
  return text.indexOf(part)
}

function mapAscii(text: string, pattern: RegExp, change: (run: string) => string, budget: Budget): string {
  budget.spend(1 + text.length / 4)
  return text.replace(pattern, change)
}

function cut(text: string, from: number, to: number | null, budget: Budget): string {
  const length = points(text, budget)
  const end = to ?? length
  if (!Number.isInteger(from) || !Number.isInteger(end) || from < 0 || end < from || end > length)
    throw new CelFailure(`substring from ${from} to ${end} is not within a string of ${length} characters`)
  if (length === text.length) return text.slice(from, end)
  budget.spend(length)
  return Array.from(text).slice(from, end).join('')
}

/** An empty separator splits into characters. */
function pieces(text: string, separator: string, budget: Budget): string[] {
  spendSearch(text, separator, budget)
  if (separator === '') budget.spend(text.length)
  const all = separator === '' ? Array.from(text) : text.split(separator)
  budget.spend(all.length)
  return all
}

function joined(list: readonly CelValue[], by: string, budget: Budget): string {
  budget.spend(list.length)
  let characters = by.length * list.length
  const texts = list.map((item) => {
    if (typeof item !== 'string') throw new CelFailure('join() takes a list of strings')
    characters += item.length
    return item
  })
  budget.spendText(characters)
  return texts.join(by)
}

const NUMBER = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

function numberOf(text: string, budget: Budget): number {
  budget.spendText(text.length)
  const number = text.length <= 40 && NUMBER.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(number)) throw new CelFailure('a string that is not number cannot become one')
  return number
}

function booleanOf(text: string): boolean {
  if (text === 'true') return true
  if (text === 'false') return false
  throw new CelFailure('a string other than "true" and "false" cannot become a boolean')
}
