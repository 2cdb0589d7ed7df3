import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findDeadReferences, type DeadReferences } from './references/find-dead-references.ts'
import { openRepository, repositoryOf, type Finding } from './references/repository.ts'

// Everything that a comment or a page refers to exists (docs/README.md, "How to refer").

const said = ({ file, line, said, why }: Finding) => `${file}:${line}: ${said}: ${why}`

describe('the repository', () => {
  const found = findDeadReferences(openRepository(path.resolve(import.meta.dirname, '..')))
  test.for(Object.keys(found) as (keyof DeadReferences)[])('has no dead %s', (kind) => {
    expect(found[kind].map(said)).toEqual([])
  })

  test('numbers each section of a page once, so that a reference leads to one', () => {
    const folder = path.resolve(import.meta.dirname, '../docs')
    const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
    const twice = pages.flatMap((page) => {
      const text = readFileSync(path.join(folder, page), 'utf8')
      const numbers = [...text.matchAll(/^#{2,4} ([A-Z]?\d[\d.]*)/gm)].map(([, number]) => number!.replace(/\.$/, ''))
      return numbers.filter((number, at) => numbers.indexOf(number) !== at).map((number) => `${page} ${number}`)
    })
    expect([pages.length > 10, twice]).toEqual([true, []])
  })

  test('has no page with a command `node ….ts`, which Node 20 cannot run', () => {
    const { paths, read } = openRepository(path.resolve(import.meta.dirname, '..'))
    const pages = paths.filter((file) => file.endsWith('.md'))
    const commands = pages.flatMap((file) =>
      (read(file).match(/\bnode (-\S+ )*\S+\.ts\b/g) ?? []).map((said) => `${file}: ${said}`),
    )
    expect([pages.length > 10, commands]).toEqual([true, []])
  })
})

describe('findDeadReferences', () => {
  const files = {
    'package.json': '{ "name": "all" }',
    'docs/rules.md':
      '# Rules\n\n## 1. One\n\n### 1.2 Two (of it)\n\nSee §1.2, [two](#12-two-of-it), [one](rules.md#1-one).\n',
    'docs/core.md': '# Core\n\n### M4. Four\n',
    'prisma/a.sql': '--   B1  A rule.\nCREATE FUNCTION money.run_batch(a text)\nCREATE TABLE money.wallets (',
    'services/x/src/a.ts': '// The head:\n//   A1  A rule.\nexport const a = 1 // A1\n',
    'services/x/src/b.ts': 'export const b = 1\n',
    'services/y/src/b.ts': 'export const b = 1\n',
    'tools/z.ts': 'export const z = 1\n',
  }
  function deadIn(file: string, text: string): string[] {
    const all: Record<string, string> = { ...files, [file]: text }
    const repository = repositoryOf(Object.keys(all), (one) => all[one]!)
    return Object.values(findDeadReferences(repository)).flatMap((findings) => findings.map(said))
  }
  const inComment = (text: string) => deadIn('services/x/src/c.ts', `const s = 'http://x' // ${text}\n`)

  test('accepts references that exist', () => {
    expect(deadIn('docs/core.md', files['docs/core.md'])).toEqual([])
    for (const text of [
      'rules §1.2 and §1, core §M4',
      'docs/rules.md, rules.md, services/x/src/a.ts, a.ts, services/*/src/{a,b}.ts, services/x',
      'A1 of a.ts, B1 of run_batch, money.wallets, money.run_batch',
      'Node.js, S3, UTF-8, example.com/docs/x.html, ~/docs/x.html, RFC 9110, tools/call',
    ])
      expect([text, inComment(text)]).toEqual([text, []])
  })

  test.for([
    ['rules §1.3', 'docs/rules.md has no section 1.3'],
    ['core §M4 and §M5', 'docs/core.md has no section M5'],
    ['see §1.2', 'no page of docs/ is named before it'],
    ['[it](./d.ts)', 'there is no services/x/src/d.ts'],
    ['[it](../../../docs/rules.md#two)', 'docs/rules.md has no heading #two'],
    ['docs/money.md', 'there is no such file'],
    ['services/z', 'there is no such file'],
    ['d.ts', 'there is no such file'],
    ['services/*/src/d.ts', 'nothing in the repository has such a name'],
    ['@gateway/none', 'there is no such package'],
    ['money.none', 'no SQL of the repository makes it'],
    ['A1', 'this file has no such rule, and no other is named'],
    ['A2 of a.ts', 'services/x/src/a.ts has no such rule'],
    ['B2 of run_batch', 'prisma/a.sql has no such rule'],
    ['(decisions.md, 3)', 'it leads to no document of the repository'],
    ['spec 4.2', 'it leads to no document of the repository'],
    ['architecture.md, money core 2', 'it leads to no document of the repository'],
  ] as const)('reports %s', ([text, why]) => {
    expect(inComment(text)).toContainEqual(expect.stringContaining(why))
  })

  test('reports a file name that several packages have, but not the package of the reference', () => {
    expect(deadIn('bootstrap/c.js', '// b.ts')).toEqual([expect.stringContaining('2 files have this name')])
  })

  test('reports a reference across two lines with its first line', () => {
    const text = 'const r = /[/"]/\n\n/**\n * Two lines: rules\n * §1.9.\n */\n'
    expect(deadIn('services/x/src/c.ts', text)).toEqual([expect.stringMatching(/c\.ts:4: rules §1\.9: /)])
  })

  test('checks test titles, and ignores text that only looks like a comment', () => {
    expect(deadIn('services/x/src/c.ts', "test('spec 4.2')")).toHaveLength(1)
    expect(deadIn('services/x/src/c.ts', 'const s = `${`// none.ts`} // none.ts`')).toEqual([])
    expect(deadIn('prisma/b.sql', "SELECT '-- none.ts'; -- it's none.ts")).toHaveLength(1)
  })

  test('checks Markdown, and in fenced code only file names', () => {
    expect(deadIn('docs/page.md', '`none.ts` [x](none.md)\n')).toHaveLength(2)
    expect(deadIn('docs/page.md', '```sh\nnode services/none/main.ts # [x](y)\n```\n')).toHaveLength(1)
  })
})
