import type { StateCore, Token } from 'markdown-it'

export interface Heading {
  id: string
  level: number
  text: string
}

/**
 * Gives every heading the anchor that it has on GitHub, and makes all but the title a link to itself. A heading holds no other link.
 * @returns the headings in their order
 */
export function giveAnchors({ tokens, Token: Made }: StateCore): Heading[] {
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
