import path from 'node:path'
import { lineOf, type Passage } from './comments-of.ts'
import { readPage } from './pages.ts'
import type { Finding, Repository } from './repository.ts'

const LINK = /\[[^\]]*\]\((?<target>[^()\s]+)\)/g

/** Links in Markdown, including those in comments, to a missing file or heading of the repository. */
export function deadLinks(repository: Repository, file: string, passage: Passage): Finding[] {
  const findings: Finding[] = []
  for (const match of passage.text.matchAll(LINK)) {
    const { target = '' } = match.groups ?? {}
    if (/^[a-z]+:/.test(target)) continue
    const why = whyDead(repository, file, target)
    if (why !== null) findings.push({ file, line: lineOf(passage, match.index), said: match[0], why })
  }
  return findings
}

function whyDead(repository: Repository, file: string, target: string): string | null {
  const [to = '', anchor] = target.split('#', 2)
  const found = to === '' ? file : path.posix.join(path.posix.dirname(file), to)
  if (!repository.has(found)) return `there is no ${found}`
  if (anchor === undefined || !found.endsWith('.md')) return null
  return readPage(repository.read(found)).anchors.has(anchor) ? null : `${found} has no heading #${anchor}`
}
