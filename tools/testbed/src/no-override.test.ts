import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const tests = '**/*.{test,scenario,fixture}.ts'

// Files of a vitest worker share modules. `test.override` at the top of a file changes the object it is called on, and
// thereby an imported one for every later file; within a describe block it applies to that block alone.
test('no file overrides a fixture for the files after it', () => {
  const files = globSync(tests, {
    cwd: projectFolder,
    exclude: ['**/node_modules', '**/.cache', '**/.local', '**/.peers'],
  })
  expect(files.length).toBeGreaterThan(400)
  const isOther = (file: string) => path.join(projectFolder, file) !== import.meta.filename
  const found = files.filter((file) => isOther(file) && overrides(readFileSync(path.join(projectFolder, file), 'utf8')))
  expect(found).toEqual([])
})

test.for([
  ["test.override('kind', 'own')", true],
  ["const test = stackTest.override('kind', 'own')", true],
  ["const test = stackTest\n  .extend('a', 1)\n  .override('kind', 'own')", true],
  ["describe('slices', () => {\n  test.override('sliceMs', 1)\n})", false],
] as const)('detects an override at the top of a file in %j: %s', ([text, isFound]) => {
  expect(overrides(text)).toBe(isFound)
})

const overrides = (text: string) => /^\w.*\.override\(|^ *\.override\(/m.test(text)
