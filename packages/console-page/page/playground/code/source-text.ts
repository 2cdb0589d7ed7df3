/** Verbatim source text, such as a variable name. */
export class Expression {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Literal syntax of a language. */
export interface Syntax {
  indent: string
  key: (name: string) => string
  string: (text: string) => string
  constants: Record<'null' | 'true' | 'false', string>
  /** Padding inside the braces of a one-line object. */
  pad: string
}

export const javaScript: Syntax = {
  indent: '  ',
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
  string: quoted,
  constants: { null: 'null', true: 'true', false: 'false' },
  pad: ' ',
}

export const python: Syntax = {
  indent: '    ',
  key: (name) => JSON.stringify(name),
  string: (text) => JSON.stringify(text),
  constants: { null: 'None', true: 'True', false: 'False' },
  pad: '',
}

const LONGEST_LINE = 80

/** Source text of a value, on one line if it fits. @param depth indentation level */
export function sourceText(value: unknown, syntax: Syntax, depth = 0): string {
  const { indent, key, string, constants, pad } = syntax
  if (value instanceof Expression) return value.text
  if (typeof value === 'string') return string(value)
  if (typeof value !== 'object' || value === null) return constants[String(value) as 'null'] ?? String(value)
  const isList = Array.isArray(value)
  const [begin, end] = isList ? ['[', ']'] : ['{', '}']
  const fields = Object.entries(value).filter(([, each]) => each !== undefined)
  const write = (at: number) =>
    fields.map(([name, each]) => `${isList ? '' : `${key(name)}: `}${sourceText(each, syntax, at)}`)
  if (fields.length === 0) return `${begin}${end}`
  const line = write(depth).join(', ')
  const inner = isList ? '' : pad
  if (!line.includes('\n') && line.length + depth * indent.length <= LONGEST_LINE)
    return `${begin}${inner}${line}${inner}${end}`
  const lines = write(depth + 1).map((each) => `${indent.repeat(depth + 1)}${each},\n`)
  return `${begin}\n${lines.join('')}${indent.repeat(depth)}${end}`
}

/** String literal in single quotes if nothing needs escaping, otherwise in double quotes. */
function quoted(text: string): string {
  const json = JSON.stringify(text)
  const isPlain = !text.includes("'") && json.replaceAll(String.raw`\"`, '"') === `"${text}"`
  return isPlain ? `'${text}'` : json
}

/**
 * curl command for Linux and macOS shells. The body is in a here-document, which needs no escaping and can hold images.
 * @param headers additional headers
 */
export function curlCode(
  url: string,
  body: object,
  { isStream = false, headers = [] }: { isStream?: boolean; headers?: string[] } = {},
): string {
  const all = ['Content-Type: application/json', ...headers].map((header) => `  -H "${header}" \\\n`)
  return `curl ${isStream ? '-N ' : ''}${url} \\
  -H "Authorization: Bearer $${KEY_NAME}" \\
${all.join('')}  --data-binary @- <<'JSON'
${JSON.stringify(body, null, 2)}
JSON
`
}

/** A code sample. It contains no secret. */
export interface ShownCode {
  title: string
  /** Install command, or null if it has no dependencies. */
  install: string | null
  text: string
}

/** Environment variable that contains the key. */
export const KEY_NAME = 'GATEWAY_KEY'
