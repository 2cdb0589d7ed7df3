import { globSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')

test('no program imports the test runner, with which only a test can start', { timeout: 60_000 }, async () => {
  const programs = globSync('{bench,clients,deploy,packages,scenarios,services,tools}/**/{main,*-main,*-command}.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  expect(programs).toEqual(expect.arrayContaining(['bench/src/main.ts', 'services/ledger/src/main.ts']))
  const build = await rolldown({
    input: Object.fromEntries(programs.map((program) => [program, path.join(root, program)])),
    platform: 'node',
    external: (id) => !/^[./]|^@gateway\//.test(id),
    logLevel: 'silent',
  })
  const { output } = await build.generate()
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk] as const] : [])))
  const reaches = (name: string, seen = new Set<string>()): boolean => {
    if (seen.has(name)) return false
    seen.add(name)
    return name === 'vitest' || (chunks.get(name)?.imports ?? []).some((next) => reaches(next, seen))
  }
  const wrong = [...chunks.values()].filter(({ isEntry, fileName }) => isEntry && reaches(fileName))
  expect(wrong.map(({ name }) => name)).toEqual([])
})
