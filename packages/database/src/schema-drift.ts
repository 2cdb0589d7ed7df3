import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { openSchemaEngine } from './schema-engine.ts'

const projectSchema = path.resolve(import.meta.dirname, '../../../prisma/schema')

/**
 * The SQL steps that would bring a migrated database to what prisma/schema says; none if they agree.
 *
 * Left out is what the schema does not express on purpose: references between tables (it declares no relations),
 * partial indexes, and a default that the database holds word for word. Functions, triggers, views, checks and
 * partitions are not looked at by Prisma at all.
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
