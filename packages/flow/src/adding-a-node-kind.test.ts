import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { CelFailure, celSteps } from './cel.ts'
import type { NodeKind } from './node-kind.ts'

/** Imports the example of the page as a module, with its imports resolved relative to src/kinds. */
async function example(): Promise<{ pick: NodeKind }> {
  const page = await readFile(path.join(import.meta.dirname, '../../../docs/adding-a-node-kind.md'), 'utf8')
  const [, code] = /^```ts\n([^]+?)^```$/m.exec(page) ?? []
  const kinds = pathToFileURL(path.join(import.meta.dirname, 'kinds/'))
  const resolved = code!.replaceAll(/from '(\.[^']+)'/g, (_, file: string) => `from '${new URL(file, kinds).pathname}'`)
  const folder = await mkdtemp(path.join(tmpdir(), 'node-kind-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(path.join(folder, 'pick.ts'), resolved)
  return import(path.join(folder, 'pick.ts'))
}

test('the example of docs/adding-a-node-kind.md is a node kind that reports its problems and computes its output', async () => {
  const { pick } = await example()
  const look = (fields: object) => pick.look({ id: 'n', kind: 'pick', ...fields }, { input: [], output: [] })
  expect(look({ key: 'title' }).problems).toEqual([])
  expect(look({ key: 3 }).problems).toHaveLength(1)
  expect(look({}).problems).toHaveLength(1)
  const run = (object: object) => pick.run!({ id: 'n', kind: 'pick', key: 'title' }, { object }, null, celSteps)
  expect(run({ title: 'Dune', pages: 412 })).toEqual({ text: 'Dune' })
  expect(() => run({ title: 7 })).toThrow(CelFailure)
  expect(() => run({})).toThrow(CelFailure)
})
