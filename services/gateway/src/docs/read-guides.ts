import { readFileSync } from 'node:fs'
import path from 'node:path'

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
