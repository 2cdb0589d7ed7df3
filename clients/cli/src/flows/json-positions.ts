import { flowLimits } from '@gateway/api/limits'

export interface Position {
  /** From 1, as in editors. */
  line: number
  column: number
}
export type Path = readonly (string | number)[]
export type ReadJson =
  | { value: unknown; at(path: Path): Position }
  /** The fault and its position. */
  | { fault: string; position: Position }

const DEEPEST = 256
/** Characters; the service accepts half this size, as JSON without whitespace. */
const LONGEST = 2 * flowLimits.bodyBytes
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Parses JSON with the position of each part; for a missing path, the position of the nearest enclosing part. */
export function readJson(text: string): ReadJson {
  if (text.length > LONGEST)
    return { fault: 'It is larger than the gateway accepts.', position: { line: 1, column: 1 } }
  const starts = new Map<string, number>()
  const scan = scanner(text, (path, at) => starts.set(JSON.stringify(path), at))
  const fault = scan()
  if (fault !== null) return { fault: fault.message, position: positionOf(text, fault.at) }
  const at = (path: Path): Position => {
    for (let length = path.length; length > 0; length--) {
      const found = starts.get(JSON.stringify(path.slice(0, length)))
      if (found !== undefined) return positionOf(text, found)
    }
    return positionOf(text, starts.get('[]') ?? 0)
  }
  return { value: JSON.parse(text), at }
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

class Fault extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/** Scans a text and reports where each value, or the name before it, begins. */
function scanner(text: string, found: (path: Path, at: number) => void): () => Fault | null {
  let at = 0
  const taken = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const [match] = pattern.exec(text) ?? []
    if (match === undefined) return null
    at += match.length
    return match
  }
  const blanks = () => taken(/[ \t\r\n]*/y)
  const fail = (expected: string): never => {
    throw new Fault(
      at >= text.length ? `The file ends where ${expected} is expected.` : `Expected ${expected} here.`,
      at,
    )
  }
  // oxlint-disable-next-line no-control-regex -- JSON forbids these in a string
  const name = () => taken(/"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y)

  function value(path: Path): void {
    if (path.length > DEEPEST) throw new Fault('It is nested too deeply.', at)
    blanks()
    if (!starts(path)) found(path, at)
    if (taken(/\{/y)) members(path, '}', (n, names) => member(path, n, names))
    else if (taken(/\[/y)) members(path, ']', (n) => value([...path, n]))
    else if (!name() && !number() && !taken(/true|false|null/y)) fail('a value')
  }
  function number(): boolean {
    const begins = at
    const written = taken(NUMBER)
    // It would be read as infinity, and written as null.
    if (!Number.isFinite(Number(written))) throw new Fault('This number is too large.', begins)
    return written !== null
  }
  const named = new Set<string>()
  const starts = (path: Path) => named.has(JSON.stringify(path))

  function member(path: Path, n: number, names: Set<string>): void {
    const begins = at
    const written = name() ?? fail(n === 0 ? 'a name in double quotes, or }' : 'a name in double quotes')
    const key = JSON.parse(written) as string
    if (names.has(key)) throw new Fault(`The name ${written} appears twice.`, begins)
    names.add(key)
    // The position of a field is that of its name.
    found([...path, key], begins)
    named.add(JSON.stringify([...path, key]))
    blanks()
    if (!taken(/:/y)) fail('a colon')
    value([...path, key])
  }

  function members(_path: Path, end: string, each: (n: number, names: Set<string>) => void): void {
    const names = new Set<string>()
    blanks()
    if (text[at] === end) return void at++
    for (let n = 0; ; n++) {
      blanks()
      each(n, names)
      blanks()
      if (text[at] === end) return void at++
      if (!taken(/,/y)) fail(`a comma or ${end}`)
    }
  }

  return () => {
    try {
      value([])
      blanks()
      if (at < text.length) fail('the end')
      return null
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }
}
