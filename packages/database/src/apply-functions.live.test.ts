import { expect } from 'vitest'
import { migrationTest } from './migrate.fixture.ts'

const answering = (name: string, body: string, takes = 'a integer', answers = 'integer') =>
  `CREATE OR REPLACE FUNCTION public.${name}(${takes}) RETURNS ${answers} LANGUAGE sql AS $$ ${body} $$;`
const SIGNATURE = /^public\.f_v1 has another signature than the one in the database, .*: put the file back as it was/

migrationTest('functions come after the migrations, each behind what it needs', async ({ place }) => {
  await place.run({ '1_a': 'CREATE TABLE t (a integer)' })
  const files = {
    'public/a_v1': `-- needs: public.v, public.b_v1\n${answering('a_v1', 'SELECT public.b_v1(a) FROM public.v')}`,
    'public/b_v1': answering('b_v1', 'SELECT a + 1'),
    'public/v': 'CREATE OR REPLACE VIEW public.v AS SELECT 1 AS one FROM t',
  }
  expect(await place.runFunctions(files)).toEqual(['public.v', 'public.b_v1', 'public.a_v1'])
  expect(await place.runFunctions(files)).toEqual([])
})

migrationTest('a body that changed is replaced, and so is a function that somebody dropped', async ({ place }) => {
  await place.runFunctions({
    'public/f_v1': answering('f_v1', 'SELECT 1'),
    'public/g_v1': answering('g_v1', 'SELECT 2'),
  })
  expect(await place.runFunctions({ 'public/f_v1': answering('f_v1', 'SELECT 3') })).toEqual(['public.f_v1'])
  await place.ask('DROP FUNCTION g_v1')
  expect(await place.runFunctions({})).toEqual(['public.g_v1'])
  expect(await place.ask('SELECT f_v1(0) AS f, g_v1(0) AS g')).toEqual([{ f: 3, g: 2 }])
})

migrationTest('a signature that changed without a new version is refused, and nothing is done', async ({ place }) => {
  await place.runFunctions({ 'public/f_v1': answering('f_v1', 'SELECT 1') })
  const others = { 'public/e_v1': answering('e_v1', 'SELECT 1') }
  for (const [takes, answers] of [
    ['a bigint', 'integer'], // another type
    ['a integer, b integer', 'integer'], // one more
    ['b integer', 'integer'], // another name
    ['a integer', 'bigint'], // another answer
  ]) {
    const changed = { ...others, 'public/f_v1': answering('f_v1', 'SELECT 2', takes, answers) }
    await expect(place.runFunctions(changed)).rejects.toThrow(SIGNATURE)
  }
  expect(await place.ask(`SELECT f_v1(0) AS f, to_regproc('e_v1') AS e`)).toEqual([{ f: 1, e: null }])
})

migrationTest('a new version stands beside the old one, and the old one stays without its file', async ({ place }) => {
  await place.runFunctions({ 'public/f_v1': answering('f_v1', 'SELECT 1') })
  const next = { 'public/f_v2': answering('f_v2', 'SELECT 2', 'a bigint') }
  expect(await place.runFunctions(next)).toEqual(['public.f_v2'])
  expect(await place.ask('SELECT f_v1(0) AS f, f_v2(0) AS g')).toEqual([{ f: 1, g: 2 }])
})

migrationTest('a view keeps its columns and may get one more', async ({ place }) => {
  const view = (columns: string) => ({ 'public/v': `CREATE OR REPLACE VIEW public.v AS SELECT ${columns}` })
  await place.runFunctions(view('1 AS a'))
  expect(await place.runFunctions(view('1 AS a, 2 AS b'))).toEqual(['public.v'])
  await expect(place.runFunctions(view('2 AS b'))).rejects.toThrow('public.v has another signature')
})

migrationTest('a function that fails leaves all as it was and names its line', async ({ place }) => {
  const failing = {
    'public/a_v1': answering('a_v1', 'SELECT 1'),
    'public/f_v1': `-- What it does.\n${answering('f_v1', 'SELECT nonsense')}`,
  }
  await expect(place.runFunctions(failing)).rejects.toThrow(
    'Function public.f_v1 failed at line 2: column "nonsense" does not exist (42703)',
  )
  expect(await place.ask(`SELECT to_regproc('a_v1') AS a`)).toEqual([{ a: null }])
})

migrationTest('the grants are given again with each change', async ({ place }) => {
  const grants = 'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC'
  await place.runFunctions({ grants, 'public/f_v1': answering('f_v1', 'SELECT 1') })
  await place.runFunctions({ 'public/g_v1': answering('g_v1', 'SELECT 2') })
  const forAll = `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proacl IS NULL`
  expect(await place.ask(forAll)).toEqual([])
  expect(await place.runFunctions({ grants: `${grants};` })).toEqual(['grants'])
})
