import { commentsOf, type Passage } from './comments-of.ts'
import { openDatabaseNameCheck } from './dead-database-names.ts'
import { invariantsIn, openInvariantCheck } from './dead-invariants.ts'
import { deadLinks } from './dead-links.ts'
import { openPathCheck } from './dead-paths.ts'
import { deadSections } from './dead-sections.ts'
import { oldReferences } from './old-references.ts'
import { pagesOf, withoutFences } from './pages.ts'
import type { Finding, Repository } from './repository.ts'

/** Findings by kind of check. docs/README.md lists the forms of references. */
export type DeadReferences = Record<
  'sections' | 'links' | 'paths' | 'packages' | 'database names' | 'invariants' | 'old forms',
  Finding[]
>

/** Lock files and third-party texts. */
const UNREAD = /(^|\/)pnpm-lock\.yaml$|(^|\/)LICENSE/

/** Finds every dead reference in comments and pages. */
export function findDeadReferences(repository: Repository): DeadReferences {
  const found: DeadReferences = {
    sections: [],
    links: [],
    paths: [],
    packages: [],
    'database names': [],
    invariants: [],
    'old forms': [],
  }
  const pages = pagesOf(repository)
  const packages = packageNames(repository)
  const deadPaths = openPathCheck(repository)
  const deadDatabaseNames = openDatabaseNameCheck(repository)
  const commented = new Map(
    repository.paths
      .filter((file) => !UNREAD.test(file))
      .flatMap((file) => {
        const split = commentsOf(file, repository.read(file))
        return split ? [[file, split] as const] : []
      }),
  )
  const invariants = new Map([...commented].map(([file, { comments }]) => [file, invariantsIn(comments)]))
  const none: ReadonlySet<string> = new Set()
  const deadInvariants = openInvariantCheck(repository, (file) => invariants.get(file) ?? none)

  function look(file: string, passage: Passage, own: string | null): void {
    found.sections.push(...deadSections(file, passage, pages, own))
    found.links.push(...deadLinks(repository, file, passage))
    found.paths.push(...deadPaths(file, { line: passage.line, text: withoutLinks(passage.text) }))
    found.packages.push(...deadPackages(file, passage, packages))
    found['database names'].push(...deadDatabaseNames(file, passage))
    found['old forms'].push(...oldReferences(file, passage))
  }

  for (const [file, { comments, code }] of commented) {
    for (const passage of comments) look(file, passage, null)
    // These checks contain made-up references and examples of references.
    if (file.startsWith('bootstrap/references')) continue
    if (/\.(ts|js|sql)$/.test(file)) found.invariants.push(...comments.flatMap((one) => deadInvariants(file, one)))
    // Titles of tests and other strings.
    const rest = { line: 1, text: code }
    found.sections.push(...deadSections(file, rest, pages, null))
    found['old forms'].push(...oldReferences(file, rest))
  }
  for (const file of repository.paths.filter((one) => one.endsWith('.md'))) {
    const text = repository.read(file)
    const [, own = null] = /^docs\/([a-z-]+)\.md$/.exec(file) ?? []
    look(file, { line: 1, text: withoutFences(text) }, own)
    found.paths.push(...deadPaths(file, { line: 1, text: fencesOf(text) }))
  }
  return found
}

/** Only fenced code, with lines kept: its commands name files too. Excludes the imports of examples. */
function fencesOf(markdown: string): string {
  const bare = withoutFences(markdown).split('\n')
  return markdown
    .split('\n')
    .map((line, n) => (line === bare[n] || line.startsWith('import ') ? '' : line))
    .join('\n')
}

/** The text of a link is not a file reference: `deadLinks` checks its target. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[[^\]]*\]\([^()\s]+\)/g, (link) => link.replaceAll(/[^\n]/g, ' '))
}

function packageNames(repository: Repository): Set<string> {
  const manifests = repository.paths.filter((file) => /(^|\/)package\.json$/.test(file))
  return new Set(manifests.map((file) => (JSON.parse(repository.read(file)) as { name: string }).name))
}

function deadPackages(file: string, { line, text }: Passage, packages: ReadonlySet<string>): Finding[] {
  return [...text.matchAll(/@gateway\/[a-z-]+/g)]
    .filter(([name]) => !packages.has(name))
    .map(([said]) => ({ file, line, said, why: 'there is no such package' }))
}
