import { readFileSync } from 'node:fs'
import path from 'node:path'
import MarkdownIt, { type StateCore, type Token } from 'markdown-it'

// The guides are the Markdown files of docs/. docs/README.md lists them: groups, order, and a summary of each.

const folder = path.join(import.meta.dirname, '../../../../docs')

export interface Guide {
  /** File name without `.md`. The page is at `/docs/<name>`. */
  name: string
  title: string
  /** Summary, in Markdown. */
  about: string
  markdown: string
}

export interface GuideGroup {
  title: string
  guides: Guide[]
}

/**
 * Returns the guides listed in docs/README.md, in order.
 * @throws Error if a listed page is missing
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

// Renders the repository's Markdown as HTML that complies with a strict Content-Security-Policy.
//   M1  HTML in Markdown is escaped and never becomes part of the page.
//   M2  No inline styles.
//   M3  A link leads where `Addresses` says. Without a target on the site (such as a source file) it becomes plain
//       text.
//   M4  Content that can be wider than a phone scrolls separately and is focusable by keyboard.

export interface Addresses {
  /** Address of a link's target, or null if it isn't on the site. */
  ofLink: (href: string) => string | null
  /** Address of the page for inline code, such as an error code, or null. */
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

/** Replaces the column alignment that Markdown emits, such as `text-align:right`, with a class. */
function withoutStyle([name, value]: TokenAttribute): TokenAttribute {
  return name === 'style' ? ['class', String(value).replace('text-align:', 'to-')] : [name, value]
}

export interface Heading {
  id: string
  level: number
  text: string
}

/**
 * Gives every heading its GitHub anchor, and makes all but the title link to themselves. Other links in a heading are
 * removed.
 * @returns the headings in order
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
