import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { withDatabase } from './client.ts'
import { migrate, type MigrateOptions } from './migrate.ts'

/** SQL by name: that of a migration, or of a function as `<schema>/<name>`. */
type Files = Record<string, string>

/** A database that doesn't exist yet, folders of migrations and functions, and a session that reads the result. */
export const migrationTest = liveTest.extend('place', async ({ database }, { onCleanup }) => {
  const name = `svc_migrate_${randomBytes(6).toString('hex')}`
  const url = withDatabase(database.adminUrl, name)
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-migrations-'))
  const folders = { migrations: path.join(folder, 'migrations'), functions: path.join(folder, 'functions') }
  for (const each of Object.values(folders)) await mkdir(each)
  onCleanup(async () => {
    await rm(folder, { recursive: true })
    await ask(database.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })
  const lines: string[] = []
  const run = (options: Partial<MigrateOptions>) =>
    migrate({ url, folders, log: (line) => lines.push(line), ...options })
  const write = async (file: string, sql: string) => {
    await mkdir(path.dirname(file), { recursive: true })
    const whole = `${file}.${randomBytes(4).toString('hex')}`
    await writeFile(whole, sql)
    await rename(whole, file) // atomically: a concurrent run may be reading it
  }
  return {
    url,
    lines,
    run: async (migrations: Files, options: Partial<MigrateOptions> = {}) => {
      for (const [each, sql] of Object.entries(migrations))
        await write(path.join(folders.migrations, each, 'migration.sql'), sql)
      return run(options)
    },
    runFunctions: async (functions: Files, options: Partial<MigrateOptions> = {}) => {
      for (const [each, sql] of Object.entries(functions)) await write(path.join(folders.functions, `${each}.sql`), sql)
      return run(options)
    },
    ask: (sql: string) => ask(url, sql),
  }
})
