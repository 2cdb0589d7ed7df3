/** Text for readers, with its first line. Comments on consecutive lines are one passage. */
export interface Passage {
  line: number
  /** Without comment markers; its lines match those of the file. */
  text: string
}

/** The line of the file at character `index` of a passage. */
export function lineOf({ line, text }: Passage, index: number): number {
  return line + newlines(text.slice(0, index))
}

interface Split {
  comments: Passage[]
  /** The rest of the file, with comments blanked out and lines kept. */
  code: string
}

/** Splits a file into comments and code; null for a kind of file that is not checked. */
export function commentsOf(file: string, text: string): Split | null {
  const find = finderOf(file)
  if (find === null) return null
  const ranges = find(text)
  let code = ''
  let end = 0
  for (const [from, to] of ranges) {
    code += text.slice(end, from) + text.slice(from, to).replaceAll(/[^\n]/g, ' ')
    end = to
  }
  return { comments: joined(text, ranges), code: code + text.slice(end) }
}

type Range = [from: number, to: number]

function finderOf(file: string): ((text: string) => Range[]) | null {
  if (/\.(ts|js)$/.test(file)) return scriptComments
  if (file.endsWith('.sql')) return matching(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:''|[^'])*'/g)
  if (file.endsWith('.prisma')) return matching(/\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g)
  if (file.endsWith('.css')) return matching(/\/\*[\s\S]*?\*\//g)
  if (/\.(ya?ml|sh)$|(^|\/)Dockerfile$/.test(file)) return matching(/(?<![^\s])#[^\n]*/g)
  return null
}

/** Matches that are not strings. */
function matching(tokens: RegExp): (text: string) => Range[] {
  return (text) =>
    [...text.matchAll(tokens)]
      .filter(([token]) => !/^['"]/.test(token))
      .map((match): Range => [match.index, match.index + match[0].length])
}

const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|[`{}]|\/|[\w$]+|[^\s\w$]/g
const REGULAR_EXPRESSION = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
/** After these a slash starts a regular expression instead of a division. */
const BEFORE_VALUE = /^(?:[([{,;:=!&|?+\-*%<>~^}]|return|typeof|case|of|in|new|void|await|yield|default)$/

/** Tells comments from slashes in strings, templates and regular expressions. */
function scriptComments(text: string): Range[] {
  const ranges: Range[] = []
  const braces: ('block' | 'template')[] = []
  let before = ';'
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [token] = match
    if (token.startsWith('//') || token.startsWith('/*')) {
      ranges.push([match.index, match.index + token.length])
      continue
    }
    if (token === '/' && BEFORE_VALUE.test(before)) TOKEN.lastIndex = endOfRegularExpression(text, match.index)
    else if (token === '{') braces.push('block')
    else if (token === '`') TOKEN.lastIndex = endOfTemplatePart(text, match.index + 1, braces)
    else if (token === '}' && braces.pop() === 'template')
      TOKEN.lastIndex = endOfTemplatePart(text, match.index + 1, braces)
    before = token
  }
  return ranges
}

function endOfRegularExpression(text: string, from: number): number {
  REGULAR_EXPRESSION.lastIndex = from
  return REGULAR_EXPRESSION.test(text) ? REGULAR_EXPRESSION.lastIndex : from + 1
}

/** The position after the template, or after the `${` that interrupts it. */
function endOfTemplatePart(text: string, from: number, braces: ('block' | 'template')[]): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '`') return at + 1
    else if (text[at] === '$' && text[at + 1] === '{') {
      braces.push('template')
      return at + 2
    }
  }
  return text.length
}

function joined(text: string, ranges: Range[]): Passage[] {
  const passages: Passage[] = []
  let line = 1
  let at = 0
  let end = -1
  for (const [from, to] of ranges) {
    line += newlines(text.slice(at, from))
    const bare = withoutSigns(text.slice(from, to))
    const last = passages.at(-1)
    if (last && end >= 0 && /^[ \t]*\n[ \t]*$/.test(text.slice(end, from))) last.text += `\n${bare}`
    else passages.push({ line, text: bare })
    line += newlines(text.slice(from, to))
    at = end = to
  }
  return passages
}

function newlines(text: string): number {
  return text.split('\n').length - 1
}

function withoutSigns(comment: string): string {
  return comment
    .replace(/^\/\*+|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^[ \t]*(?:\/\/+|--+|#+|\*(?!\*))/, ''))
    .join('\n')
}
