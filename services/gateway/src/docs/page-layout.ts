import type { Heading } from './guides.ts'

export interface NavigationLink {
  address: string
  title: string
}

export interface NavigationGroup {
  title: string
  links: NavigationLink[]
}

export interface ShownPage {
  address: string
  title: string
  html: string
  headings: Heading[]
  /** Address of the Markdown version, or null. */
  markdown: string | null
}

/** Renders the documentation layout: a bar, the page, and the navigation, next to the page if there is room. */
export function pageLayout({ address, title, html, headings, markdown }: ShownPage, groups: NavigationGroup[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/docs.css">
${markdown === null ? '' : `<link rel="alternate" type="text/markdown" href="${markdown}">\n`}<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#page">To the page</a>
<header class="bar">
<a class="name" href="/docs">Documentation</a>
<a class="to-pages" href="#pages">All pages</a>
<a href="/docs/api">API reference</a>
<a href="/console">Console</a>
</header>
<main id="page" tabindex="-1">
${html.replace('</h1>', `</h1>\n${contents(headings)}`)}${
    markdown === null ? '' : `<p class="source"><a href="${markdown}">This page as Markdown</a></p>\n`
  }</main>
<nav id="pages" aria-label="All pages" tabindex="-1">
${groups.map((group) => groupOf(group, address)).join('')}</nav>
<p id="status" role="status"></p>
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!)
}

/** Table of contents of a page with at least three chapters. */
function contents(headings: Heading[]): string {
  const chapters = headings.filter(({ level }) => level === 2)
  if (chapters.length < 3) return ''
  const items = chapters.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`)
  return `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>`
}

function groupOf({ title, links }: NavigationGroup, current: string): string {
  const items = links.map(({ address, title: name }) => {
    const isHere = address === current || current.startsWith(`${address}/`)
    return `<li><a href="${address}"${isHere ? ' aria-current="page"' : ''}>${escaped(name)}</a></li>\n`
  })
  return `<h2>${escaped(title)}</h2>\n<ul>\n${items.join('')}</ul>\n`
}

/** Source of a documentation page. */
export interface DocsPage {
  /** Such as `/docs/money`; its Markdown is at `/docs/money.md`. */
  address: string
  title: string
  markdown: string
}
