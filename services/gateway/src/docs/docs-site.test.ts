import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { docsSite } from '../routes/docs.ts'
import { markdownRenderer } from './guides.ts'

const { texts, nothing } = docsSite()
const pages = [...texts]
  .filter(([, { type }]) => type.startsWith('text/html'))
  .map(([address, { text }]) => [address, text()] as const)

test('serves every guide in docs/ as HTML and as Markdown', () => {
  const folder = path.resolve(import.meta.dirname, '../../../../docs')
  const guides = readdirSync(folder).flatMap((file) => /^([a-z-]+)\.md$/.exec(file)?.[1] ?? [])
  expect(guides.length).toBeGreaterThan(10)
  for (const name of guides)
    expect([name, texts.has(`/docs/${name}`), texts.has(`/docs/${name}.md`)]).toEqual([name, true, true])
})

test('every link in a page resolves to an existing page or heading', () => {
  for (const [address, text] of [...pages, ['nothing', nothing()] as const])
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      if (/^(https:|\/console$|\/openapi\.json$|\/docs\/api$)/.test(href)) continue
      const [to = '', anchor] = href.split('#')
      const target = to === '' ? text : texts.get(to)?.text()
      expect([address, href, target !== undefined]).toEqual([address, href, true])
      if (anchor !== undefined)
        expect([address, href, target!.includes(`id="${decodeURI(anchor)}"`)]).toEqual([address, href, true])
    }
})

test('llms.txt links only to existing Markdown pages', () => {
  const text = texts.get('/llms.txt')!.text()
  expect(text).toMatch(/^# .+\n\n> /)
  const links = [...text.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, address]) => address!)
  expect(links.length).toBeGreaterThan(10)
  for (const address of links)
    expect([address, texts.get(address)?.type]).toEqual([address, 'text/markdown; charset=utf-8'])
  expect(texts.get('/docs/llms.txt')).toEqual(texts.get('/llms.txt'))
})

test('no page has inline scripts or styles', () => {
  for (const [address, text] of pages)
    expect([address, /<script(?![^>]*\ssrc=)|<style|<[^>]+\s(?:on\w+|style)=/i.exec(text)?.[0]]).toEqual([
      address,
      undefined,
    ])
})

const { html, headings } = markdownRenderer({
  ofLink: (href) => (href === 'there.md' ? '/there' : null),
  ofCode: (code) => (code === 'key_limit' ? '/code' : null),
})(
  [
    '# A *title*',
    '## One `key_limit`',
    '## One `key_limit`',
    '<script>alert(1)</script> [to](there.md) [away](javascript:alert(1)) [source](../a.ts) `key_limit`',
    '| a |\n|--:|\n| 1 |',
  ].join('\n\n'),
)

test('escapes HTML in Markdown', () => {
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
})

test('renders an unresolvable link as plain text', () => {
  expect(html).toContain('<a href="/there">to</a>')
  expect(html).toContain(' source ')
  expect(html).not.toMatch(/href="(?:javascript|\.\.)/)
})

test('links an error code to its page', () => {
  expect(html).toContain('<a href="/code"><code>key_limit</code></a>')
})

test('gives each heading a unique anchor', () => {
  expect(headings.map(({ id }) => id)).toEqual(['a-title', 'one-key_limit', 'one-key_limit-1'])
  expect(html).toContain('<h2 id="one-key_limit-1"><a class="anchor" href="#one-key_limit-1">One <code>')
})

test('aligns a column to the right with a class', () => {
  expect(html).toContain('<td class="to-right">1</td>')
})
