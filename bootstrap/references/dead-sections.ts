import { lineOf, type Passage } from './comments-of.ts'
import type { Page } from './pages.ts'
import type { Finding } from './repository.ts'

const REFERENCE = /(?:(?<page>[A-Za-z][A-Za-z-]*)\s+)?§(?<number>[A-Z]?\d+(?:\.\d+)*|)/g
/** Text between two sections of one page: `rules §3.2, §3.4 and §4.1`. */
const GOES_ON = /^[\s,;]*(?:and|or|to)?\s*$/

/**
 * References such as `rules §3.2` to a missing heading.
 * @param pages by name
 * @param own the page of the passage, whose sections need no name
 */
export function deadSections(
  file: string,
  passage: Passage,
  pages: ReadonlyMap<string, Page>,
  own: string | null,
): Finding[] {
  const findings: Finding[] = []
  let page = own
  let end = -1
  for (const match of passage.text.matchAll(REFERENCE)) {
    const { page: word = '', number = '' } = match.groups ?? {}
    const start = match.index + match[0].indexOf('§')
    if (pages.has(word.toLowerCase())) page = word.toLowerCase()
    else if (end < 0 || !GOES_ON.test(passage.text.slice(end, start))) page = own
    end = match.index + match[0].length
    const said = match[0].replaceAll(/\s+/g, ' ')
    const finding = (why: string) => findings.push({ file, line: lineOf(passage, match.index), said, why })
    if (number === '') finding('a section has a number')
    else if (page === null) finding('no page of docs/ is named before it')
    else if (!pages.get(page)!.sections.has(number)) finding(`docs/${page}.md has no section ${number}`)
  }
  return findings
}
