// Brings the functions and views of a database up to the files under prisma/functions.
//   R1  A file is applied when its checksum is not the one that was applied last, or what it makes is not there.
//   R2  All that changed is one transaction: the services never see half of a change.
//   R3  A signature never changes, because two releases run side by side while one replaces the other. A new signature
//       gets a new name (prisma/functions/README.md).
import { DatabaseError, type Client } from 'pg'
import { readFunctions, type FunctionFile } from './function-files.ts'
import { withShortLocks, type LockOptions } from './short-locks.ts'
import { sqlFailure } from './sql-failure.ts'

/** "Cannot change return type", "… name of input parameter", "… drop columns from view": invalid definitions of either. */
const signatureErrors = new Set(['42P13', '42P16'])

/**
 * Applies what changed, after the migrations and under their lock. Answers its names. Throws one readable message if a
 * file fails or has changed a signature; then nothing has changed.
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
  options.log(names.length > 0 ? `Functions ${names.join(', ')}` : 'Grants of functions')
  return names.length > 0 ? names : ['grants']
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

/** R3: with other types of arguments, Postgres makes a second function of the same name instead of replacing the first. */
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
