import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import { SchemaEngine, type SchemaContainer } from '@prisma/schema-engine-wasm'
import type { QueryArrayResult } from 'pg'

/**
 * Prisma's schema engine in WebAssembly, for what needs no engine binary from the network. It is bound to the
 * database behind `url`; `files` is the whole schema, or nothing for what needs none. Call `free` and then `close` when done.
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
  // The engine reports a failed assertion to this object, and fails without a word if it is not there.
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

// Type numbers of the catalogue: "char" and text.
const oneByteChar = 18
const text = 25

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>

/**
 * The catalogue has columns of the one-byte type "char", which the adapter does not know and the engine wants as
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
