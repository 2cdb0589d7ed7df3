import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { readFunctions, type FunctionFile } from './apply-functions.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const schemaFolder = path.join(projectFolder, 'prisma/schema')
const functionsFolder = path.join(projectFolder, 'prisma/functions')
const generated = path.join(import.meta.dirname, 'generated')
const madeFrom = path.join(generated, 'made-from.txt')

/** Generates the signatures of the SQL functions into src/generated. */
export async function generateSqlFunctions(): Promise<void> {
  await mkdir(generated, { recursive: true })
  const { files } = await readFunctions(functionsFolder)
  await writeFile(path.join(generated, 'sql-functions.ts'), sqlFunctionsModule(files))
}

/**
 * Generates the Prisma client into src/generated if the schema or the version of Prisma changed since the last run.
 * Works without a network: Prisma would download an engine that generating doesn't use, and accepts any file in its
 * place. Returns whether it generated.
 */
export async function generateClient(): Promise<boolean> {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('prisma/package.json')
  const wanted = await fingerprint(await readFile(manifest, 'utf8'))
  if ((await readFile(madeFrom, 'utf8').catch(() => '')) === wanted) return false

  const command = path.join(path.dirname(manifest), 'build/index.js')
  const args = [command, 'generate', '--schema', schemaFolder, '--no-hints']
  const env = {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
  try {
    await promisify(execFile)(process.execPath, args, { cwd: projectFolder, env })
  } catch (error) {
    throw new Error(`The Prisma client can't be generated. ${String(error)}`, { cause: error })
  }
  await writeFile(madeFrom, wanted)
  return true
}

async function fingerprint(prismaManifest: string): Promise<string> {
  const hash = createHash('sha256').update(prismaManifest)
  for (const file of (await readdir(schemaFolder)).toSorted()) {
    hash.update(`\0${file}\0`).update(await readFile(path.join(schemaFolder, file)))
  }
  return hash.digest('hex')
}

// Generates the signatures and row types of prisma/functions as TypeScript, so that `callFunction` is typed from the
// SQL. An argument or a result is nullable only if the comment of its line says so: `-- or null`. A row type is a view
// without rows (`WHERE false`).

/** The types of Taken and Answered in sql.ts. */
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
    '// Made from prisma/functions by generate-client.ts.',
    "import type { Answered, Taken } from '../sql.ts'",
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
