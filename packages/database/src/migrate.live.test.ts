import { ask } from '@gateway/testbed/ask'
import { Client } from 'pg'
import { expect } from 'vitest'
import { databaseOf } from './client.ts'
import { migrationTest } from './migrate.fixture.ts'
import { openSchemaEngine } from './schema-drift.ts'

migrationTest('creates the database and applies files by name; a second run does nothing', async ({ place }) => {
  const files = { '2_b': 'INSERT INTO t VALUES (2)', '1_a': 'CREATE TABLE t (a int)' }
  expect(await place.run(files)).toEqual(['1_a', '2_b'])
  expect(await place.run(files)).toEqual([])
  expect(await place.ask('SELECT a FROM t')).toEqual([{ a: 2 }])
})

migrationTest('applies a function body with semicolons in one piece', async ({ place }) => {
  const body = `CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN 'a;b'; END; $$; SELECT 1;`
  await place.run({ '1_a': body })
  expect(await place.ask('SELECT f()')).toEqual([{ f: 'a;b' }])
})

migrationTest('refuses a migration that changed after it was applied, and changes nothing', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int)', '2_b': 'ALTER TABLE t ADD COLUMN b int' })
  const changed = place.run({ '2_b': 'ALTER TABLE t ADD COLUMN c int', '3_c': 'CREATE TABLE u (a int)' })
  await expect(changed).rejects.toThrow('Migration 2_b was changed after it had been applied. Put the file back')
  expect(await place.ask(`SELECT to_regclass('u') AS u`)).toEqual([{ u: null }])
})

migrationTest(
  'refuses a database older than the first file with a resolution, and changes nothing',
  async ({ place }) => {
    await place.run({ '5_baseline': 'CREATE TABLE t (a int)' })
    await place.ask(`UPDATE _prisma_migrations SET migration_name = '1_old' WHERE migration_name = '5_baseline'`)
    await expect(place.run({ '6_next': 'CREATE TABLE u (a int)' })).rejects.toThrow(
      'This database was made before 5_baseline. Run the version of the service that made it. Only if you can do without',
    )
    expect(await place.ask(`SELECT to_regclass('u') AS u`)).toEqual([{ u: null }])
  },
)

migrationTest(
  'refuses a database made by another version of the first file, and names an empty one last',
  async ({ place }) => {
    await place.run({ '5_baseline': 'CREATE TABLE t (a int)' })
    const refused = place.run({ '5_baseline': 'CREATE TABLE t (b int)', '6_next': 'CREATE TABLE u (a int)' })
    await expect(refused).rejects.toThrow(
      'This database was made by another version of 5_baseline. Run the version of the service that made it, or put the ' +
        'file back if it was edited. Only if you can do without its keys and projects, give the service an empty database: ' +
        'where `npm start` made it, move its data folder away (.local, or DATA_FOLDER).',
    )
    expect(await place.ask(`SELECT to_regclass('u') AS u`)).toEqual([{ u: null }])
  },
)

migrationTest('refuses another version of Postgres with a resolution, and changes nothing', async ({ place }) => {
  const refused = place.run({ '1_a': 'CREATE TABLE t (a int)' }, { supportedMajor: 17 })
  await expect(refused).rejects.toThrow(
    /^This is Postgres 18\S*, and the service works on Postgres 17 alone: bring the server/,
  )
  expect(await place.ask(`SELECT to_regclass('t') AS t, to_regclass('_prisma_migrations') AS book`)).toEqual([
    { t: null, book: null },
  ])
})

migrationTest('refuses a database whose sort order may change, with a resolution', async ({ place, database }) => {
  const name = databaseOf(place.url)
  await ask(
    database.adminUrl,
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
  )
  const refused = place.run({ '1_a': 'CREATE TABLE t (a int)' })
  await expect(refused).rejects.toThrow('This database orders text by the rules of en-US, which change')
  expect(await place.ask(`SELECT to_regclass('t') AS t`)).toEqual([{ t: null }])
})

migrationTest('rolls back a failing migration, reports its line, and applies it once corrected', async ({ place }) => {
  const failing = place.run({ '1_a': 'CREATE TABLE t (a int);\n\nCREATE TABLE u (a nonsense);' })
  await expect(failing).rejects.toThrow('Migration 1_a failed at line 3: type "nonsense" does not exist (42704)')
  expect(await place.ask(`SELECT to_regclass('t') AS t`)).toEqual([{ t: null }])
  expect(await place.run({ '1_a': 'CREATE TABLE t (a int)' })).toEqual(['1_a'])
})

migrationTest(
  'rolls back a migration whose connection is lost midway, and applies it in the next run',
  async ({ place }) => {
    await place.run({ '1_a': 'CREATE TABLE t (a int)' })
    const cutOff = place.run({ '2_b': 'INSERT INTO t VALUES (1); SELECT pg_sleep(600);' })
    const lost = cutOff.catch((error: Error) => error.message)
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE application_name = 'svc-migrate' AND datname = current_database() AND wait_event = 'PgSleep'`
    await expect.poll(() => place.ask(terminate)).toHaveLength(1)
    expect(await lost).toContain('Migration 2_b failed')
    expect(await place.run({ '2_b': 'INSERT INTO t VALUES (2)' })).toEqual(['2_b'])
    expect(await place.ask('SELECT a FROM t')).toEqual([{ a: 2 }])
  },
)

migrationTest('applies each migration once in concurrent runs', async ({ place }) => {
  const files = { '1_a': 'CREATE TABLE t (a int)', '2_b': 'INSERT INTO t VALUES (1)' }
  await place.run({})
  const runs = await Promise.all(Array.from({ length: 4 }, () => place.run(files)))
  expect(runs.flat()).toEqual(['1_a', '2_b'])
  expect(await place.ask('SELECT a FROM t')).toEqual([{ a: 1 }])
})

migrationTest('builds a concurrent index while another run waits for this one', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int)' })
  const instance = new Client({ connectionString: place.url })
  await instance.connect()
  await instance.query('BEGIN; LOCK TABLE t IN ROW EXCLUSIVE MODE')
  const files = { '2_b': 'CREATE INDEX CONCURRENTLY i ON t (a)' }
  const first = place.run(files)
  const isHeldUp = `SELECT FROM pg_stat_activity WHERE application_name = 'svc-migrate' AND datname = current_database()
                    AND wait_event_type = 'Lock' AND query LIKE 'CREATE INDEX%'`
  await expect.poll(() => place.ask(isHeldUp)).toHaveLength(1)
  const log = (line: string) => {
    if (line.includes('waiting for it')) void instance.end() // the signal that it waits
  }
  expect(await Promise.all([first, place.run(files, { log })])).toEqual([['2_b'], []])
})

migrationTest('backs off and retries if a table is in use, instead of waiting for it', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int)' })
  const instance = new Client({ connectionString: place.url })
  await instance.connect()
  await instance.query('BEGIN; LOCK TABLE t IN ACCESS SHARE MODE')
  const log = (line: string) => {
    if (line.includes('a table is in use')) void instance.end() // the signal that it stepped back
  }
  expect(await place.run({ '2_b': 'ALTER TABLE t ADD COLUMN b int' }, { lockTimeoutMs: 50, log })).toEqual(['2_b'])
})

migrationTest('fails after all attempts if a table stays in use', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int)' })
  const instance = new Client({ connectionString: place.url })
  await instance.connect()
  await instance.query('BEGIN; LOCK TABLE t IN ACCESS SHARE MODE')
  const refused = place.run({ '2_b': 'ALTER TABLE t ADD COLUMN b int' }, { lockTimeoutMs: 50, lockAttempts: 1 })
  await expect(refused).rejects.toThrow('lock timeout')
  await instance.end()
})

migrationTest('refuses to run after a failed concurrent index until it is retried by name', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int); INSERT INTO t VALUES (1), (1)' })
  const files = { '2_b': 'CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)' }
  await expect(place.run(files)).rejects.toThrow('Migration 2_b failed: could not create unique index "i"')
  await expect(place.run(files)).rejects.toThrow('Migration 2_b was started and not finished')
  await place.ask('DROP INDEX i; DELETE FROM t')
  expect(await place.run(files, { again: '2_b' })).toEqual(['2_b'])
})

migrationTest('names the variable and the option for a migration that was left unfinished', async ({ place }) => {
  const files = { '1_a': 'CREATE INDEX CONCURRENTLY i ON missing (a)' }
  await expect(place.run(files)).rejects.toThrow('Migration 1_a failed')
  await expect(place.run(files)).rejects.toThrow('migrate with MIGRATE_AGAIN=1_a (--again 1_a)')
})

migrationTest(
  'continues if the migration to retry is not unfinished, and refuses an unknown one',
  async ({ place }) => {
    const files = { '1_a': 'CREATE TABLE t (a int)' }
    const done = 'Migration 1_a is not unfinished: remove MIGRATE_AGAIN (--again).'
    expect(await place.run(files, { again: '1_a' })).toEqual(['1_a'])
    expect(await place.run({ '2_b': 'CREATE TABLE u (a int)' }, { again: '1_a' })).toEqual(['2_b'])
    expect(place.lines.filter((line) => line === done)).toHaveLength(2)
    await place.ask(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, rolled_back_at) VALUES ('x', 'y', '0_z', now())`,
    )
    expect(await place.run({}, { again: '0_z' })).toEqual([])
    await expect(place.run({ '3_c': 'CREATE TABLE v (a int)' }, { again: '1_b' })).rejects.toThrow(
      'There is no migration 1_b. Correct MIGRATE_AGAIN (--again).',
    )
    expect(await place.ask(`SELECT to_regclass('v') AS v`)).toEqual([{ v: null }])
  },
)

migrationTest('reports a migration of a newer version and leaves it alone', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a int)' })
  await place.ask(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'y', '9_z', now())`,
  )
  expect(await place.run({})).toEqual([])
  expect(place.lines).toContain('Migration 9_z is applied but unknown here: a newer version has used this database.')
})

migrationTest("keeps a record of migrations that Prisma's own engine accepts", async ({ place }) => {
  const files = { '1_a': 'CREATE TABLE t (a int)', '2_b': 'CREATE INDEX CONCURRENTLY i ON t (a)' }
  await place.run(files)
  const { engine, close } = await openSchemaEngine(place.url, [])
  const history = await engine.diagnoseMigrationHistory({
    migrationsList: {
      baseDir: '/',
      lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
      shadowDbInitScript: '',
      migrationDirectories: Object.entries(files).map(([name, value]) => ({
        path: name,
        migrationFile: { path: 'migration.sql', content: { tag: 'ok', value } },
      })),
    },
    optInToShadowDatabase: false,
    filters: { externalTables: [], externalEnums: [] },
  })
  engine.free()
  await close()
  expect(history).toMatchObject({
    editedMigrationNames: [],
    failedMigrationNames: [],
    hasMigrationsTable: true,
    history: null,
  })
})
