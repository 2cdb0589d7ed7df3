import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { keepPlaces } from './bundle-services.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const ask = 'const at = [import.meta.dirname, import.meta.url]'

test.for(['services/gateway/src/docs.ts', 'packages/my parts/ä#%.ts'])(
  'a bundled module finds the files next to its source: %s',
  (name) => {
    const source = path.join(projectFolder, name)
    const bundle = pathToFileURL(path.join(projectFolder, '.cache/services/0123/gateway.js')).href
    const code = keepPlaces(ask, source)!.replaceAll('import.meta.url', JSON.stringify(bundle))
    const [folder, url] = runInNewContext(`${code}\nat`, { process, URL }) as [string, string]
    expect([folder, fileURLToPath(url)]).toEqual([path.dirname(source), source])
  },
)

test('bundling fails for a module that locates itself in an unsupported way', () => {
  expect(() => keepPlaces('import.meta.resolve("x")', '/a.ts')).toThrow('/a.ts uses import.meta.resolve')
})

test('a module that does not locate itself is left unchanged', () => {
  expect(keepPlaces('const a = 1', '/a.ts')).toBeNull()
})
