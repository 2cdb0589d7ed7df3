import { type DocsPage, type NavigationGroup, pageLayout } from './page-layout.ts'
import { type Guide, type GuideGroup, markdownRenderer, readGuides } from './guides.ts'
import { addressOfRefusal, isRefusalCode, refusalPages } from './refusal-pages.ts'

export interface DocsSite {
  /** Texts by address, each with its type. A page is rendered on first request. */
  texts: Map<string, { text: () => string; type: string }>
  /** The 404 page for addresses under `/docs`. */
  nothing: () => string
}

const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/**
 * Returns every page of docs/ as HTML and as Markdown. All of docs/ is read now, so that errors surface when the
 * service starts. HTML is rendered later: rendering all of it would take longer than the rest of the app's start.
 * @throws Error if a page named in docs/README.md is missing
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

/** Caches the result of the first call. */
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

/** Address on the site for a link in docs/, or null if the target isn't on the site. */
function addressOf(href: string, names: ReadonlySet<string>): string | null {
  if (/^(#|\/|https:\/\/)/.test(href)) return href
  if (href === 'openapi.json') return '/docs/api'
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  const code = anchor.slice(1)
  if (name === 'refusals' && isRefusalCode(code)) return addressOfRefusal(code)
  return names.has(name) ? `/docs/${name}${anchor}` : null
}

/** `/docs`: every guide with its summary. */
function homePage(groups: GuideGroup[]): DocsPage {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return { address: '/docs', title: 'Documentation', markdown: [introduction, ...chapters].join('\n') }
}

const introduction = `# Documentation

Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
call and settled exactly after it, from the project's wallet.

Every path and shape is in the [API reference](/docs/api), and for programs at [/openapi.json](/openapi.json).
`

/** `/llms.txt`: an introduction and every guide as Markdown (llmstxt.org). */
function llmsText(groups: GuideGroup[]): string {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}.md): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return [llmsIntroduction, ...chapters].join('\n')
}

const llmsIntroduction = `# Project-bound model gateway

> Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
> call and settled exactly after it, from the project's wallet.

Chat completions are at \`POST /v1/chat/completions\`; clients that speak them work with \`/v1\` as their base address. What a refusal with
the code \`key_limit\` means is at \`/docs/refusals/key_limit.md\`, and so for each code.

- [OpenAPI](/openapi.json): every path and shape.
`
