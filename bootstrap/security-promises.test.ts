import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

// SECURITY.md names the tests that prove what it promises.

const projectFolder = path.resolve(import.meta.dirname, '..')

interface Promised {
  promise: string
  tests: { file: string; title: string }[]
}

/** The promises of a page: list items, each with the tests that prove it below it, as `file`: title. */
function promisesOf(markdown: string): Promised[] {
  const [, section = ''] = /^## What is promised$([^]*?)(?=^## |(?![^]))/m.exec(markdown) ?? []
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) => {
      const [promise = '', ...tests] = item.split(/^ {2}- /m)
      return {
        promise: promise.replaceAll(/\s+/g, ' ').trim(),
        tests: tests.map((line) => {
          const [, file = '', title = ''] = /^`([^`]+)`: ([^]*?)\s*(?:\n\n\*\*[^]*)?$/.exec(line) ?? []
          return { file, title: title.replaceAll(/\s+/g, ' ') }
        }),
      }
    })
}

/** Whether a test file has a test of this title, however its lines are broken. */
function hasTest(source: string, title: string): boolean {
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some(
    (quoted) => source.includes(`(${quoted}`) || new RegExp(String.raw`\(\s*${escaped(quoted)}`).test(source),
  )
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

const promises = promisesOf(readFileSync(path.join(projectFolder, 'SECURITY.md'), 'utf8'))

test('every promise names a test', () => {
  expect(promises.length).toBeGreaterThan(15)
  expect(promises.filter(({ tests }) => tests.length === 0)).toEqual([])
})

test.each(promises.flatMap(({ promise, tests }) => tests.map((one) => [promise, one] as const)))(
  'a test proves: %s',
  (_promise, { file, title }) => {
    const place = path.join(projectFolder, file)
    expect([file, existsSync(place)]).toEqual([file, true])
    expect([file, title, hasTest(readFileSync(place, 'utf8'), title)]).toEqual([file, title, true])
  },
)

test('a promise without a test, with a title that is not there, or with another file is found', () => {
  const page =
    '# S\n\n## What is promised\n\n**One**\n\n- A\n  promise.\n  - `a.test.ts`: it\n    holds\n\n**Two**\n\n- Another.\n\n## More\n\n- x\n'
  expect(promisesOf(page)).toEqual([
    { promise: 'A promise.', tests: [{ file: 'a.test.ts', title: 'it holds' }] },
    { promise: 'Another.', tests: [] },
  ])
  expect(hasTest("test('it holds', () => {})", 'it holds')).toBe(true)
  expect(hasTest("test.each([1])(\n  'it holds',", 'it holds')).toBe(true)
  expect(hasTest("// 'it holds'", 'it holds')).toBe(false)
  expect(hasTest("test('it holds not', () => {})", 'it holds')).toBe(false)
})
