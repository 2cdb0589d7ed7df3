import { cp, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readFunctions } from './apply-functions.ts'

// No other tool looks for dead SQL. A rule added to a function that no one calls silently has no effect.

const root = path.resolve(import.meta.dirname, '../../..')
const projectFunctions = path.join(root, 'prisma/functions')

/** What production runs: no tests, no fixtures, and no generated signatures, which call nothing. */
const SHIPPED = ['services/*/src/**/*.ts', 'packages/*/src/**/*.ts', 'prisma/{job,seed}/**/*.ts']
const NOT_SHIPPED = /\.(test|fixture)\.ts$|\/(fixtures|generated|node_modules)\//
const shipped = (await readAll(SHIPPED)).map(withoutTypeScriptComments)
const migrations = (await readAll(['prisma/migrations/*/migration.sql'])).map(withoutSqlComments)

test('every function and view is used by a service, a trigger, a migration or another one in use', async () => {
  expect(await unreached(projectFunctions)).toEqual([])
})

test('no function or view has a version in its name', async () => {
  expect(await versioned(projectFunctions)).toEqual([])
})

test('reports an unused function, and those that only it calls', async () => {
  const folder = await copyOfFunctions({
    dead: `CREATE OR REPLACE FUNCTION money.dead() RETURNS void LANGUAGE sql AS $$ SELECT money.dead_too() $$;`,
    dead_too: `CREATE OR REPLACE FUNCTION money.dead_too() RETURNS void LANGUAGE sql AS $$ SELECT money.run_batch() $$;`,
  })
  expect(await unreached(folder)).toEqual(['money.dead', 'money.dead_too'])
})

test('reports a function that only a comment or its own body names', async () => {
  const admit = await readFile(path.join(projectFunctions, 'money/admit.sql'), 'utf8')
  const folder = await copyOfFunctions({
    admit: `-- As money.named.\n${admit}`,
    named: `CREATE OR REPLACE FUNCTION money.named() RETURNS void LANGUAGE sql AS $$ SELECT 1 $$;`,
    recursive: `CREATE OR REPLACE FUNCTION money.recursive() RETURNS void LANGUAGE sql AS $$ SELECT money.recursive() $$;`,
  })
  expect(await unreached(folder)).toEqual(['money.named', 'money.recursive'])
})

test('reports a function name that ends in a version', async () => {
  const folder = await copyOfFunctions({ admit_v2: 'CREATE OR REPLACE FUNCTION money.admit_v2() RETURNS void' })
  expect(await versioned(folder)).toEqual(['money.admit_v2'])
})

/** Names of files that no shipped TypeScript, trigger or migration uses, directly or through another file in use. */
async function unreached(folder: string): Promise<string[]> {
  const files = (await readFunctions(folder)).files.map(({ name, sql }) => ({ name, sql: withoutSqlComments(sql) }))
  const reached = files.filter(
    ({ name, sql }) =>
      [...shipped, ...migrations].some((text) => namesIn(text).has(name)) || sql.includes(`EXECUTE FUNCTION ${name}()`),
  )
  for (const { name: user, sql } of reached) {
    const names = namesIn(sql)
    for (const file of files)
      if (file.name !== user && names.has(file.name) && !reached.includes(file)) reached.push(file)
  }
  return files.filter((file) => !reached.includes(file)).map(({ name }) => name)
}

async function versioned(folder: string): Promise<string[]> {
  return (await readFunctions(folder)).files.map(({ name }) => name).filter((name) => /_v\d+$/.test(name))
}

const names = new Map<string, Set<string>>()

function namesIn(text: string): Set<string> {
  const known =
    names.get(text) ?? new Set([...text.matchAll(/(?<![\w.])(?:money|control)\.\w+/g)].map(([name]) => name))
  names.set(text, known)
  return known
}

async function readAll(patterns: string[]): Promise<string[]> {
  const files = await Array.fromAsync(glob(patterns, { cwd: root, exclude: (name) => name === 'node_modules' }))
  return Promise.all(
    files.filter((file) => !NOT_SHIPPED.test(file)).map((file) => readFile(path.join(root, file), 'utf8')),
  )
}

function withoutTypeScriptComments(text: string): string {
  return text.replaceAll(/\/\*\*?\s[^]*?\*\//g, ' ').replaceAll(/(?<!:)\/\/.*$/gm, ' ')
}

function withoutSqlComments(sql: string): string {
  return sql.replaceAll(/--.*$/gm, ' ')
}

/** A copy of this project's functions with these files added or replaced. */
async function copyOfFunctions(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-functions-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(projectFunctions, folder, { recursive: true })
  for (const [name, sql] of Object.entries(files)) await writeFile(path.join(folder, `money/${name}.sql`), sql)
  return folder
}
