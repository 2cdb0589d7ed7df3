import { type Client, DatabaseError } from 'pg'
import { type LockOptions, withShortLocks } from './short-locks.ts'
import { sqlFailure } from './sql.ts'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

// Brings the functions and views of a database up to date with the files under prisma/functions.
//   R1  A file is applied if its checksum differs from the last one applied, or if its function or view is missing.
//   R2  All changes are one transaction: the services never see a partial change.
//   R3  A signature never changes, because two releases run concurrently while one replaces the other. A new signature
//       gets a new name (prisma/functions/README.md).

/**
 * "Cannot change return type", "… name of input parameter", "… drop columns from view": the invalid-definition errors
 * of functions and views.
 */
const signatureErrors = new Set(['42P13', '42P16'])

/**
 * Applies what changed, after the migrations and under their lock. Returns the names. Throws one readable message if a
 * file fails or changes a signature; in that case nothing is changed.
 */
export async function applyFunctions(client: Client, folder: string, options: LockOptions): Promise<string[]> {
  const { files, grants } = await readFunctions(folder)
  await client.query(
    `CREATE TABLE IF NOT EXISTS public._sql_functions (
       name       text PRIMARY KEY,
       checksum   text NOT NULL,
       applied_at timestamptz NOT NULL
     )`,
  )
  const applied = await readApplied(client)
  const isNew = ({ name, checksum }: FunctionFile) => applied.get(name) !== checksum
  const changed = files.filter(isNew) // R1
  if (changed.length === 0 && (grants === null || !isNew(grants))) return []

  await withShortLocks(client, 'Functions', options, async () => {
    for (const file of changed) await apply(client, file)
    await refuseOverloads(client, changed)
    if (grants) await apply(client, grants)
  })
  const names = changed.map(({ name }) => name)
  options.log(names.length > 0 ? `Functions: ${describe(names)}` : 'Grants of functions')
  return names.length > 0 ? names : ['grants']
}

const MAX_NAMED = 8

/** A first migration applies all of them, and their names would hide what else it says. */
function describe(names: string[]): string {
  const rest = names.length - MAX_NAMED
  return rest > 0 ? `${names.slice(0, MAX_NAMED).join(', ')} and ${rest} more` : names.join(', ')
}

async function readApplied(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `SELECT name, checksum FROM public._sql_functions
      WHERE name = 'grants' OR to_regproc(name) IS NOT NULL OR to_regclass(name) IS NOT NULL`,
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

async function apply(client: Client, { name, sql, checksum }: FunctionFile): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    const refused = error instanceof DatabaseError && signatureErrors.has(error.code ?? '')
    throw refused ? signatureChanged(name, error) : sqlFailure(`Function ${name}`, sql, error)
  }
  await client.query(
    `INSERT INTO public._sql_functions (name, checksum, applied_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at`,
    [name, checksum],
  )
}

/**
 * R3: for other argument types, Postgres would create a second function of the same name instead of replacing the
 * first.
 */
async function refuseOverloads(client: Client, changed: readonly FunctionFile[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT n.nspname || '.' || p.proname AS name
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname || '.' || p.proname = ANY ($1)
      GROUP BY 1 HAVING count(*) > 1`,
    [changed.map(({ name }) => name)],
  )
  if (rows[0]) throw signatureChanged(rows[0].name)
}

function signatureChanged(name: string, cause?: Error): Error {
  return new Error(
    `${name} has another signature than the one in the database, which a release that still runs may call: ` +
      `put the file back as it was and write the new one under a new name (prisma/functions/README.md).`,
    { cause },
  )
}

/** A function or view as defined in `<schema>/<name>.sql`. */
export interface FunctionFile {
  /** `<schema>.<name>` */
  name: string
  sql: string
  checksum: string
  /** Files that must be applied first, from the lines `-- needs: <name>`. */
  needs: string[]
}

export interface FunctionFolder {
  /** Each after those that it needs. */
  files: FunctionFile[]
  /** `grants.sql`: the permissions on everything here. Null if there is none. */
  grants: FunctionFile | null
}

/**
 * Reads a folder of functions. Throws if a file does not define what its name says, or needs one that does not exist.
 */
export async function readFunctions(folder: string): Promise<FunctionFolder> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name)
        return readFunction(path.relative(folder, file), await readFile(file, 'utf8'))
      }),
  )
  return {
    files: inOrder(files.filter(({ name }) => name !== 'grants').toSorted((a, b) => (a.name < b.name ? -1 : 1))),
    grants: files.find(({ name }) => name === 'grants') ?? null,
  }
}

function readFunction(file: string, sql: string): FunctionFile {
  const name = file.slice(0, -'.sql'.length).replaceAll(path.sep, '.')
  const made = [...sql.matchAll(/^CREATE OR REPLACE (?:FUNCTION|VIEW) ([\w.]+)/gm)].map(([, each]) => each)
  if (name !== 'grants' && (made.length !== 1 || made[0] !== name))
    throw new Error(`${file} has to hold one CREATE OR REPLACE FUNCTION or VIEW, that of ${name}.`)
  const needs = [...sql.matchAll(/^-- needs: (.+)$/gm)].flatMap(([, names]) => names!.split(/,\s*/))
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), needs }
}

function inOrder(files: FunctionFile[]): FunctionFile[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const ordered = new Set<FunctionFile>()
  const add = (file: FunctionFile, askedBy: readonly string[]) => {
    if (ordered.has(file)) return
    if (askedBy.includes(file.name)) throw new Error(`These functions depend on each other: ${askedBy.join(', ')}.`)
    for (const name of file.needs) {
      const needed = byName.get(name)
      if (!needed) throw new Error(`${file.name} needs ${name}, which has no file.`)
      add(needed, [...askedBy, file.name])
    }
    ordered.add(file)
  }
  for (const file of files) add(file, [])
  return [...ordered]
}
