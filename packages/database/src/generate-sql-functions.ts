import type { FunctionFile } from './apply-functions.ts'

// Generates the signatures and row types of prisma/functions as TypeScript, so that `callFunction` is typed from the
// SQL. An argument or a result is nullable only if the comment of its line says so: `-- or null`. A row type is a view
// without rows (`WHERE false`).

/** The types of Taken and Answered in sql-types.ts. */
const plainTypes = ['boolean', 'integer', 'bigint', 'text', 'jsonb', 'bytea', 'integer[]', 'text[]', 'bytea[]']

const PARAMETER = /^ {2}(OUT )?(\w+) ([\w.[\]]+)(?: DEFAULT [^,]+)?,?(?:\s+--\s*(.*))?$/

/** Returns the text of the generated module. */
export function sqlFunctionsModule(files: readonly FunctionFile[]): string {
  const rowTypes = files.flatMap(({ name, sql }) => rowTypeOf(name, sql) ?? [])
  const isCallable = ({ type }: Parameter) =>
    plainTypes.includes(type) || rowTypes.some(({ name }) => type === name || type === `${name}[]`)
  const signatures = files
    .flatMap(({ name, sql }) => signatureOf(name, sql) ?? [])
    .filter(({ takes, answers }) => [...takes, ...answers].every(isCallable))
  return [
    '// Made from prisma/functions by generate-sql-functions.ts.',
    "import type { Answered, Taken } from '../sql-types.ts'",
    '',
    'export interface SqlFunctions {',
    ...signatures.flatMap(({ name, takes, answers }) => [
      `  '${name}': {`,
      `    takes: { ${takes.map(takenField).join('; ')} }`,
      `    answers: { ${answers.map((one) => field(one, `Answered['${one.type}']`)).join('; ')} }`,
      '  }',
    ]),
    '}',
    '',
    '/** Types by argument, by function. */',
    "export const sqlFunctions: { [Name in keyof SqlFunctions]: Record<keyof SqlFunctions[Name]['takes'], string> } = {",
    ...signatures.map(
      ({ name, takes }) => `  '${name}': { ${takes.map((one) => `${one.name}: '${one.type}'`).join(', ')} },`,
    ),
    '}',
    '',
    '/** Columns, in order, by row type. */',
    'export const rowTypes = {',
    ...rowTypes.map(({ name, columns }) => `  '${name}': ${JSON.stringify(columns)},`),
    '}',
    '',
  ].join('\n')
}

interface Parameter {
  name: string
  type: string
  nullable: boolean
}

interface Signature {
  name: string
  takes: Parameter[]
  answers: Parameter[]
}

/**
 * Returns null for a view, or a function whose result is not a row of named columns. @throws Error for a line without
 * exactly one argument
 */
function signatureOf(name: string, sql: string): Signature | null {
  const [, list, returns] = /^CREATE OR REPLACE FUNCTION [\w.]+\((.*?)\n?\)(?: RETURNS (\w+))?/ms.exec(sql) ?? []
  if (list === undefined || (returns !== undefined && returns !== 'void')) return null
  const signature: Signature = { name, takes: [], answers: [] }
  for (const line of list.split('\n').filter((text) => text.trim() !== '')) {
    const [, out, parameter, type, comment = ''] = PARAMETER.exec(line) ?? []
    if (!parameter || !type)
      throw new Error(`${name}: "${line.trim()}" is not one argument. Write one per line: name, type, comma.`)
    const nullable = /\bnull\b/.test(comment)
    signature[out ? 'answers' : 'takes'].push({ name: parameter, type, nullable })
  }
  return signature
}

/** Returns null if it is not a row type. @throws Error for a line without exactly one column */
function rowTypeOf(name: string, sql: string): { name: string; columns: string[] } | null {
  const [, list] = /^CREATE OR REPLACE VIEW [\w.]+ AS\nSELECT (.*?)\n WHERE false;/ms.exec(sql) ?? []
  if (list === undefined) return null
  const columns = list.split('\n').map((line) => {
    const [, column] = /^ *NULL::[\w[\]]+ AS (\w+),?(?: --.*)?$/.exec(line) ?? []
    if (!column) throw new Error(`${name}: "${line.trim()}" is not one column. Write NULL::type AS name, one per line.`)
    return column
  })
  return { name, columns }
}

function takenField(one: Parameter): string {
  if (plainTypes.includes(one.type)) return field(one, `Taken['${one.type}']`)
  return field(one, one.type.endsWith('[]') ? 'readonly object[]' : 'object')
}

function field({ name, nullable }: Parameter, type: string): string {
  return `${name}: ${type}${nullable ? ' | null' : ''}`
}
