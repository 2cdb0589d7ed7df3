import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readFunctions } from './apply-functions.ts'

test('accepts a file with one function or view of its name, and refuses any other', async () => {
  const read = await openFolder()
  const one = 'CREATE OR REPLACE FUNCTION money.f() RETURNS void'
  expect((await read({ 'money/f.sql': one })).files).toMatchObject([{ name: 'money.f' }])
  await expect(read({ 'money/f.sql': `${one};\n${one}` })).rejects.toThrow('money/f.sql has to hold one')
  await expect(read({ 'money/f.sql': one.replace('money.f', 'money.g') })).rejects.toThrow('that of money.f')
  await expect(read({ 'money/f.sql': one.replace('OR REPLACE ', '') })).rejects.toThrow('that of money.f')
})

test('refuses a file that needs itself or a missing file', async () => {
  const read = await openFolder()
  const file = (name: string, needs: string) => `-- needs: ${needs}\nCREATE OR REPLACE VIEW money.${name} AS SELECT 1`
  await expect(read({ 'money/a.sql': file('a', 'money.b') })).rejects.toThrow(
    'money.a needs money.b, which has no file',
  )
  await expect(read({ 'money/a.sql': file('a', 'money.b'), 'money/b.sql': file('b', 'money.a') })).rejects.toThrow(
    'These functions depend on each other: money.a, money.b.',
  )
})

/** A folder that gains files with each read. */
async function openFolder() {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-functions-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(path.join(folder, 'money'))
  return async (files: Record<string, string>) => {
    for (const [name, sql] of Object.entries(files)) await writeFile(path.join(folder, name), sql)
    return readFunctions(folder)
  }
}
