import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Client, type QueryArrayResult } from 'pg'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import { type SchemaContainer, SchemaEngine } from '@prisma/schema-engine-wasm'

const projectSchema = path.resolve(import.meta.dirname, '../../../prisma/schema')

/**
 * Returns the SQL steps that would bring a migrated database to prisma/schema; none if they agree.
 *
 * Ignores what the schema leaves out on purpose: references between tables (it declares no relations), partial indexes,
 * and a default that the database holds word for word. Prisma does not look at functions, triggers, views, checks and
 * partitions at all.
 */
export async function schemaDrift(url: string, schemaFolder = projectSchema): Promise<string[]> {
  const names = (await readdir(schemaFolder)).filter((name) => name.endsWith('.prisma')).toSorted()
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(schemaFolder, name)
      return { path: file, content: await readFile(file, 'utf8') }
    }),
  )
  const { engine, close } = await openSchemaEngine(url, files)
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: schemaFolder },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    })
    const steps = (stdout ?? '').split(/\n(?=-- [A-Z])/).map((step) => step.trim())
    return await withoutIntended(
      url,
      steps.filter((step) => step !== '' && !step.startsWith('-- This is an empty')),
    )
  } finally {
    engine.free()
    await close()
  }
}

async function withoutIntended(url: string, steps: string[]): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const kept: string[] = []
    for (const step of steps) if (!(await isIntended(client, step))) kept.push(step)
    return kept
  } finally {
    await client.end()
  }
}

async function isIntended(client: Client, step: string): Promise<boolean> {
  if (step.startsWith('-- DropForeignKey')) return true
  const index = /^DROP INDEX ("\w+"\."\w+");$/m.exec(step)?.[1]
  if (index) {
    const query = 'SELECT FROM pg_index WHERE indexrelid = $1::regclass AND indpred IS NOT NULL'
    return (await client.query(query, [index])).rowCount === 1
  }
  const [, schema, table, column, value] =
    /^ALTER TABLE "(\w+)"\."(\w+)" ALTER COLUMN "(\w+)" SET DEFAULT (.*);$/m.exec(step) ?? []
  if (!column) return false
  const query = `SELECT FROM information_schema.columns
                 WHERE table_schema = $1 AND table_name = $2 AND column_name = $3 AND column_default = $4`
  return (await client.query(query, [schema, table, column, value])).rowCount === 1
}

/**
 * Prisma's schema engine in WebAssembly, for tasks that need no engine binary from the network. It is bound to the
 * database at `url`; `files` is the whole schema, or nothing for tasks that need none. Call `free` and then `close`
 * when done.
 */
export async function openSchemaEngine(
  url: string,
  files: SchemaContainer[],
): Promise<{ engine: SchemaEngine; close: () => Promise<void> }> {
  const adapters = new Set<SqlDriverAdapter>()
  const factory = new (class extends PrismaPg {
    override async connect() {
      const adapter = await super.connect()
      adapters.add(adapter)
      return readCharAsCharacter(adapter)
    }
  })({ connectionString: url, max: 1 })
  // The engine reports a failed assertion to this object, and fails without a message if it does not exist.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: {
      set_message: (message: string) => {
        throw new Error(message)
      },
    },
  })
  const datamodels = files.map(({ path, content }): [string, string] => [path, content])
  const engine = await SchemaEngine.new(
    { datamodels: datamodels.length > 0 ? datamodels : undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
  return {
    engine,
    close: async () => {
      for (const adapter of adapters) await adapter.dispose()
    },
  }
}

// Type numbers of the catalog: "char" and text.
const oneByteChar = 18
const text = 25

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>

/**
 * The catalog has columns of the one-byte type "char", which the adapter does not know and the engine expects as
 * characters: they pass the adapter as text and get their type afterwards.
 */
function readCharAsCharacter(adapter: Adapter): Adapter {
  const charColumns = new WeakMap<unknown[], number[]>()
  const pool = adapter.underlyingDriver()
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<QueryArrayResult>
  const queryAsText = async (...args: unknown[]) => {
    const result = await query(...args)
    const columns = result.fields.flatMap((field, index) => (field.dataTypeID === oneByteChar ? [index] : []))
    for (const index of columns) Object.assign(result.fields[index] ?? {}, { dataTypeID: text })
    charColumns.set(result.rows, columns)
    return result
  }
  Object.assign(pool, { query: queryAsText })
  const queryRaw = adapter.queryRaw.bind(adapter)
  adapter.queryRaw = async (sql) => {
    const result = await queryRaw(sql)
    for (const index of charColumns.get(result.rows) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character
    return result
  }
  return adapter
}
