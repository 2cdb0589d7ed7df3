import type { Repository } from './repository.ts'

/** The parts of a Markdown page that can be referred to. */
export interface Page {
  /** Numbers of its sections, such as `3.2` and `M4`. */
  sections: ReadonlySet<string>
  /** Anchors of its headings, as GitHub generates them. */
  anchors: ReadonlySet<string>
}

/** The pages of docs/ that can have numbered sections, by name without `.md`. */
export function pagesOf(repository: Repository): Map<string, Page> {
  const pages = new Map<string, Page>()
  for (const file of repository.paths) {
    const [, name] = /^docs\/([a-z-]+)\.md$/.exec(file) ?? []
    if (name !== undefined) pages.set(name, readPage(repository.read(file)))
  }
  return pages
}

export function readPage(markdown: string): Page {
  const sections = new Set<string>()
  const anchors = new Set<string>()
  for (const [, title = ''] of withoutFences(markdown).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const [, number] = /^([A-Z]?\d+(?:\.\d+)*)\.? /.exec(title) ?? []
    if (number !== undefined) sections.add(number)
    const anchor = anchorOf(title)
    let unique = anchor
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`
    anchors.add(unique)
  }
  return { sections, anchors }
}

/** The text without fenced code, with lines kept. */
export function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, (fence) => fence.replaceAll(/[^\n]/g, ' '))
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}
