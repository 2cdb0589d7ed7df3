import { expect } from 'vitest'
import { migrationTest } from './migrate.fixture.ts'

const answering = (name: string, body: string, takes = 'a integer', answers = 'integer') =>
  `CREATE OR REPLACE FUNCTION public.${name}(${takes}) RETURNS ${answers} LANGUAGE sql AS $$ ${body} $$;`
const SIGNATURE = /^public\.f has another signature than the one in the database, .*: put the file back as it was/

migrationTest('applies functions after the migrations, each after those that it needs', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a integer)' })
  const files = {
    'public/a': `-- needs: public.v, public.b\n${answering('a', 'SELECT public.b(a) FROM public.v')}`,
    'public/b': answering('b', 'SELECT a + 1'),
    'public/v': 'CREATE OR REPLACE VIEW public.v AS SELECT 1 AS one FROM t',
  }
  expect(await place.runFunctions(files)).toEqual(['public.v', 'public.b', 'public.a'])
  expect(await place.runFunctions(files)).toEqual([])
})

migrationTest('replaces a function whose body changed, and restores one that was dropped', async ({ place }) => {
  await place.runFunctions({
    'public/f': answering('f', 'SELECT 1'),
    'public/g': answering('g', 'SELECT 2'),
  })
  expect(await place.runFunctions({ 'public/f': answering('f', 'SELECT 3') })).toEqual(['public.f'])
  await place.ask('DROP FUNCTION g')
  expect(await place.runFunctions({})).toEqual(['public.g'])
  expect(await place.ask('SELECT f(0) AS f, g(0) AS g')).toEqual([{ f: 3, g: 2 }])
})

migrationTest('refuses a changed signature under the same name, and changes nothing', async ({ place }) => {
  await place.runFunctions({ 'public/f': answering('f', 'SELECT 1') })
  const others = { 'public/e': answering('e', 'SELECT 1') }
  for (const [takes, answers] of [
    ['a bigint', 'integer'], // different type
    ['a integer, b integer', 'integer'], // additional argument
    ['b integer', 'integer'], // different name
    ['a integer', 'bigint'], // different result
  ]) {
    const changed = { ...others, 'public/f': answering('f', 'SELECT 2', takes, answers) }
    await expect(place.runFunctions(changed)).rejects.toThrow(SIGNATURE)
  }
  expect(await place.ask(`SELECT f(0) AS f, to_regproc('e') AS e`)).toEqual([{ f: 1, e: null }])
})

migrationTest('keeps an old function next to its successor, with or without its file', async ({ place }) => {
  await place.runFunctions({ 'public/f': answering('f', 'SELECT 1') })
  const next = { 'public/f_next': answering('f_next', 'SELECT 2', 'a bigint') }
  expect(await place.runFunctions(next)).toEqual(['public.f_next'])
  expect(await place.ask('SELECT f(0) AS f, f_next(0) AS g')).toEqual([{ f: 1, g: 2 }])
})

migrationTest('lets a view gain a column, and refuses any other change of its columns', async ({ place }) => {
  const view = (columns: string) => ({ 'public/v': `CREATE OR REPLACE VIEW public.v AS SELECT ${columns}` })
  await place.runFunctions(view('1 AS a'))
  expect(await place.runFunctions(view('1 AS a, 2 AS b'))).toEqual(['public.v'])
  await expect(place.runFunctions(view('2 AS b'))).rejects.toThrow('public.v has another signature')
})

migrationTest('changes nothing if a function fails, and reports the line', async ({ place }) => {
  const failing = {
    'public/a': answering('a', 'SELECT 1'),
    'public/f': `-- What it does.\n${answering('f', 'SELECT nonsense')}`,
  }
  await expect(place.runFunctions(failing)).rejects.toThrow(
    'Function public.f failed at line 2: column "nonsense" does not exist (42703)',
  )
  expect(await place.ask(`SELECT to_regproc('a') AS a`)).toEqual([{ a: null }])
})

migrationTest('reapplies the grants after each change', async ({ place }) => {
  const grants = 'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC'
  await place.runFunctions({ grants, 'public/f': answering('f', 'SELECT 1') })
  await place.runFunctions({ 'public/g': answering('g', 'SELECT 2') })
  const forAll = `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proacl IS NULL`
  expect(await place.ask(forAll)).toEqual([])
  expect(await place.runFunctions({ grants: `${grants};` })).toEqual(['grants'])
})
