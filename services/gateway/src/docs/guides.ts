import { readFileSync } from 'node:fs'
import path from 'node:path'
import MarkdownIt, { type StateCore, type Token } from 'markdown-it'

// The guides are the Markdown of docs/, and its README.md is their table: groups, order, and what each is about.

const folder = path.join(import.meta.dirname, '../../../../docs')

export interface Guide {
  /** Its file without `.md`; the page is at `/docs/<name>`. */
  name: string
  title: string
  /** What it is about, in Markdown. */
  about: string
  markdown: string
}

export interface GuideGroup {
  title: string
  guides: Guide[]
}

/**
 * Every guide that the table names, in its order.
 * @throws Error where the table names a page that is not there
 */
export function readGuides(): GuideGroup[] {
  const [, ...chapters] = read('README').split(/^## /m)
  return chapters.flatMap((chapter) => {
    const [title = ''] = chapter.split('\n', 1)
    const items = [...chapter.matchAll(/^- \[[^\]]+\]\(([\w-]+)\.md\): ([^]*?)(?=\n- |\n\n|\n*$(?![^]))/gm)]
    const guides = items.map(([, name, about]) => readGuide(name!, about!.replaceAll(/\s+/g, ' ')))
    return guides.length > 0 ? [{ title, guides }] : []
  })
}

function readGuide(name: string, about: string): Guide {
  const markdown = read(name)
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, about, markdown }
}

function read(name: string): string {
  return readFileSync(path.join(folder, `${name}.md`), 'utf8')
}

// Markdown of the repository as HTML that a strict policy takes.
//   M1  HTML in Markdown is shown as it is written, and never becomes part of the page.
//   M2  Nothing has its own style.
//   M3  A link leads where `Addresses` says; one that leads nowhere here, such as to a source file, is its text alone.
//   M4  What may be wider than a telephone scrolls by itself, and is reached by the keyboard.

export interface Addresses {
  /** Where a link leads; null: nowhere here. */
  ofLink: (href: string) => string | null
  /** Where a word in code has its own page, such as the code of a refusal. */
  ofCode: (code: string) => string | null
}

export interface RenderedMarkdown {
  html: string
  headings: Heading[]
}

export function markdownRenderer({ ofLink, ofCode }: Addresses): (markdown: string) => RenderedMarkdown {
  const markdownIt = new MarkdownIt({ html: false }) // M1
  markdownIt.core.ruler.push('links', (state) => {
    for (const { children } of state.tokens) if (children) children.splice(0, Infinity, ...linked(state, children))
  })
  markdownIt.core.ruler.push('headings', (state) => {
    state.env.headings = giveAnchors(state)
  })
  markdownIt.core.ruler.push('styles', ({ tokens }) => {
    for (const token of tokens) token.attrs = token.attrs?.map(withoutStyle) ?? null // M2
  })
  markdownIt.renderer.rules.table_open = () =>
    '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n' // M4
  markdownIt.renderer.rules.table_close = () => '</table></div>\n'
  markdownIt.renderer.rules.fence = (tokens, at) =>
    `<div class="block"><pre tabindex="0"><code>${markdownIt.utils.escapeHtml(tokens[at]!.content)}</code></pre></div>\n` // M4

  function linked({ Token: Made }: StateCore, tokens: Token[]): Token[] {
    let within: 'kept' | 'dropped' | null = null
    return tokens.flatMap((token) => {
      if (token.type === 'link_open') {
        const address = ofLink(String(token.attrGet('href'))) // M3
        within = address === null ? 'dropped' : 'kept'
        if (address === null) return []
        token.attrSet('href', address)
        return [token]
      }
      if (token.type === 'link_close') {
        const isKept = within === 'kept'
        within = null
        return isKept ? [token] : []
      }
      const address = token.type === 'code_inline' && within === null ? ofCode(token.content) : null
      if (address === null) return [token]
      const open = new Made('link_open', 'a', 1)
      open.attrSet('href', address)
      return [open, token, new Made('link_close', 'a', -1)]
    })
  }

  return (markdown) => {
    const env: { headings?: Heading[] } = {}
    const html = markdownIt.render(markdown, env)
    return { html, headings: env.headings ?? [] }
  }
}

type TokenAttribute = NonNullable<Token['attrs']>[number]

/** What Markdown says of a column: `text-align:right`. */
function withoutStyle([name, value]: TokenAttribute): TokenAttribute {
  return name === 'style' ? ['class', String(value).replace('text-align:', 'to-')] : [name, value]
}

export interface Heading {
  id: string
  level: number
  text: string
}

/**
 * Gives every heading the anchor that it has on GitHub, and makes all but the title a link to itself. A heading holds no other link.
 * @returns the headings in their order
 */
function giveAnchors({ tokens, Token: Made }: StateCore): Heading[] {
  const ids = new Set<string>()
  return tokens.flatMap((token, at) => {
    const inline = tokens[at + 1]
    if (token.type !== 'heading_open' || !inline?.children) return []
    const parts = inline.children.filter(({ type }) => !type.startsWith('link_'))
    const text = parts.map(({ content }) => content).join('')
    const id = unique(anchorOf(text), ids)
    token.attrSet('id', id)
    const level = Number(token.tag.slice(1))
    const open = new Made('link_open', 'a', 1)
    open.attrSet('class', 'anchor')
    open.attrSet('href', `#${id}`)
    inline.children = level === 1 ? parts : ([open, ...parts, new Made('link_close', 'a', -1)] satisfies Token[])
    return [{ id, level, text }]
  })
}

function anchorOf(text: string): string {
  const kept = text.toLowerCase().match(/[\p{Letter}\p{Number}\s_-]/gu) ?? []
  return kept.join('').replaceAll(/\s/g, '-')
}

function unique(anchor: string, taken: Set<string>): string {
  let id = anchor
  for (let n = 1; taken.has(id); n++) id = `${anchor}-${n}`
  taken.add(id)
  return id
}
