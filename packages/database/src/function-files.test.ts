import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readFunctions } from './function-files.ts'

const folderTest = test.extend<{ read: (files: Record<string, string>) => ReturnType<typeof readFunctions> }>({
  read: async ({}, use) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-functions-'))
    await mkdir(path.join(folder, 'money'))
    await use(async (files) => {
      for (const [name, sql] of Object.entries(files)) await writeFile(path.join(folder, name), sql)
      return readFunctions(folder)
    })
    await rm(folder, { recursive: true })
  },
})

folderTest('a file is one function or view, the one that its name says', async ({ read }) => {
  const one = 'CREATE OR REPLACE FUNCTION money.f_v1() RETURNS void'
  expect((await read({ 'money/f_v1.sql': one })).files).toMatchObject([{ name: 'money.f_v1' }])
  await expect(read({ 'money/f_v1.sql': `${one};\n${one}` })).rejects.toThrow('money/f_v1.sql has to hold one')
  await expect(read({ 'money/f_v1.sql': one.replace('f_v1', 'f_v2') })).rejects.toThrow('that of money.f_v1')
  await expect(read({ 'money/f_v1.sql': one.replace('OR REPLACE ', '') })).rejects.toThrow('that of money.f_v1')
})

folderTest('a file that needs one without a file, or itself, is refused', async ({ read }) => {
  const file = (name: string, needs: string) => `-- needs: ${needs}\nCREATE OR REPLACE VIEW money.${name} AS SELECT 1`
  await expect(read({ 'money/a.sql': file('a', 'money.b') })).rejects.toThrow(
    'money.a needs money.b, which has no file',
  )
  await expect(read({ 'money/a.sql': file('a', 'money.b'), 'money/b.sql': file('b', 'money.a') })).rejects.toThrow(
    'These need each other: money.a, money.b.',
  )
})
