import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { keepPlaces, projectFolder } from './bundle-programs.ts'

const folder = path.join(projectFolder, '.cache/services/0123')
const bundle = pathToFileURL(path.join(folder, 'gateway.js')).href

function answer(code: string, source: string): unknown {
  const moved = keepPlaces(code, source, folder)!.code.replaceAll('import.meta.url', JSON.stringify(bundle))
  return runInNewContext(`${moved}\nat`, { process, URL })
}

test.for(['services/gateway/src/docs.ts', 'packages/my parts/ä#%.ts'])(
  'a bundled module finds the files next to its source: %s',
  (name) => {
    const source = path.join(projectFolder, name)
    const [at, url] = answer('const at = [import.meta.dirname, import.meta.url]', source) as [string, string]
    expect([at, fileURLToPath(url)]).toEqual([path.dirname(source), source])
  },
)

test('a bundled module finds the program of its thread among the bundles', () => {
  const code = "const at = String(new URL('./count-main.ts', import.meta.url))"
  expect(answer(code, '/project/packages/a.ts')).toBe(new URL('count-main.js', bundle).href)
  expect(keepPlaces(code, '/project/packages/a.ts', folder)!.threads).toEqual(['/project/packages/count-main.ts'])
})

test('bundling fails for a module that locates itself in an unsupported way', () => {
  expect(() => keepPlaces('import.meta.resolve("x")', '/a.ts', folder)).toThrow('/a.ts uses import.meta.resolve')
})

test('a module that does not locate itself is left unchanged', () => {
  expect(keepPlaces('const a = 1', '/a.ts', folder)).toBeNull()
})
