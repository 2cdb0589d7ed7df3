import type { DocsPage } from './docs-page.ts'
import { homePage } from './home-page.ts'
import { llmsText } from './llms-text.ts'
import { pageLayout, type NavigationGroup } from './page-layout.ts'
import { readGuides, type Guide } from './read-guides.ts'
import { addressOfRefusal, isRefusalCode, refusalPages } from './refusal-pages.ts'
import { markdownRenderer } from './render-markdown.ts'

export interface DocsSite {
  /** Texts by their address, each with its type. A page is made when its text is asked for. */
  texts: Map<string, { text: () => string; type: string }>
  /** What a person gets at an address under `/docs` that nothing is at. */
  nothing: () => string
}

const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/**
 * Every page of the documentation, each as HTML and as Markdown, made from docs/. All of docs/ is read at once, so that what is wrong with
 * it is found at the start of the service; to make HTML of all of it would take longer than the rest of the start of the app.
 * @throws Error where a page that the table of docs/ names is not there
 */
export function docsSite(): DocsSite {
  const groups = readGuides()
  const guides = groups.flatMap((group) => group.guides)
  const names = new Set(guides.map(({ name }) => name))
  const render = markdownRenderer({
    ofLink: (href) => addressOf(href, names),
    ofCode: (code) => (isRefusalCode(code) ? addressOfRefusal(code) : null),
  })
  const navigation: NavigationGroup[] = groups.map((group) => ({
    title: group.title,
    links: group.guides.map(({ name, title }) => ({ address: `/docs/${name}`, title })),
  }))
  const show = ({ address, title, markdown }: DocsPage, source: string | null) =>
    pageLayout({ address, title, markdown: source, ...render(markdown) }, navigation)

  const texts: DocsSite['texts'] = new Map()
  const pages = [homePage(groups), ...guides.flatMap(pagesOf)]
  for (const page of pages) {
    const source = page.address === '/docs' ? '/docs/index.md' : `${page.address}.md`
    texts.set(page.address, { text: once(() => show(page, source)), type: HTML })
    texts.set(source, { text: () => page.markdown, type: MARKDOWN })
  }
  const llms = { text: () => llmsText(groups), type: 'text/plain; charset=utf-8' }
  texts.set('/llms.txt', llms).set('/docs/llms.txt', llms)
  return { texts, nothing: once(() => show(nothingHere, null)) }
}

/** Made when it is first asked for, and kept. */
function once(make: () => string): () => string {
  let made: string | null = null
  return () => (made ??= make())
}

/** Most guides are one page. */
function pagesOf({ name, title, markdown }: Guide): DocsPage[] {
  return name === 'refusals' ? refusalPages(markdown) : [{ address: `/docs/${name}`, title, markdown }]
}

const nothingHere: DocsPage = {
  address: '',
  title: 'There is no such page',
  markdown: `# There is no such page

All pages are listed at [the start](/docs). What a code of a refusal means is at [refusals](/docs/refusals).
`,
}

/** Where a link of a page in docs/ leads on the site; null for what is not on it. */
function addressOf(href: string, names: ReadonlySet<string>): string | null {
  if (/^(#|\/|https:\/\/)/.test(href)) return href
  if (href === 'openapi.json') return '/docs/api'
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  const code = anchor.slice(1)
  if (name === 'refusals' && isRefusalCode(code)) return addressOfRefusal(code)
  return names.has(name) ? `/docs/${name}${anchor}` : null
}
