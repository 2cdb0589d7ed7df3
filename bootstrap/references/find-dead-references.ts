import { commentsOf, type Passage, lineOf } from './comments-of.ts'
import { invariantsIn, openInvariantCheck } from './dead-invariants.ts'
import { pagesOf, withoutFences, readPage, type Page } from './pages.ts'
import type { Finding, Repository } from './repository.ts'
import path from 'node:path'

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

const CREATED =
  /CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|TYPE)(?: IF NOT EXISTS)? (?<name>(?:money|control)\.\w+)/g
const NAMED = /(?<![\w./-])(?<name>(?:money|control)\.[a-z_]+\w*)(?!\.|\w|\/)/g

/** Returns a check for names of tables, views, functions or types that no SQL of the repository creates. */
function openDatabaseNameCheck(repository: Repository): (file: string, passage: Passage) => Finding[] {
  const made = new Set<string>()
  for (const file of repository.paths)
    if (file.endsWith('.sql'))
      for (const { groups } of repository.read(file).matchAll(CREATED)) made.add(groups!['name']!)

  return (file, passage) =>
    [...passage.text.matchAll(NAMED)].flatMap((match) => {
      const said = match.groups!['name']!
      if (made.has(said) || /\.(md|ts|prisma|sql)$/.test(said)) return []
      return [{ file, line: lineOf(passage, match.index), said, why: 'no SQL of the repository makes it' }]
    })
}

const LINK = /\[[^\]]*\]\((?<target>[^()\s]+)\)/g

/** Links in Markdown, including those in comments, to a missing file or heading of the repository. */
function deadLinks(repository: Repository, file: string, passage: Passage): Finding[] {
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

const PART = String.raw`(?:[\w.*-]|\{[\w.,*-]+\})+`
const EXTENSIONS = 'ts|js|sql|md|ya?ml|prisma|sh|css|html|lua|json'

/** Names that match no file of the repository, or several, and why they are allowed. */
const elsewhere: [name: RegExp, why: string][] = [
  [/^(\.local\/)?(ready|secrets)\.json$/, 'written by `npm start`'],
  [/^(\.\w+\/)?((claude_desktop_config|mcp|opencode)\.json|config\.yaml)$/, "of a caller's own client"],
  [
    /^(agent-key|answer|flat|flow|key|me|mended|pocket|sage|statement|stopped)\.json$/,
    'what readers of a guide make, in their own folder',
  ],
  [/(^|\/)(gateway\.lock|\w+\.flow)\.json$/, 'flows that a reader keeps in git'],
  [/^tools\/(call|list)$/, 'methods of MCP'],
  [/^swagger-ui-bundle\.js$/, 'of a dependency'],
  [/^deploy\/(gateway|worker|ledger|console)$/, 'a Deployment, in a command of kubectl'],
  [/(^|\/)pick\.ts$/, 'the example of docs/adding-a-node-kind.md'],
  [/^(migration\.sql|package\.json)$/, 'each migration and each package has one'],
]

/** Returns a check for names of files or folders that do not exist in the repository. */
function openPathCheck(repository: Repository): (file: string, passage: Passage) => Finding[] {
  const folders = [...new Set(repository.paths.filter((file) => file.includes('/')).map((file) => file.split('/')[0]!))]
  const below = folders.map((folder) => folder.replaceAll('.', String.raw`\.`)).join('|')
  const mention = new RegExp(
    String.raw`(?<![\w/.~:@$<>…*{}-])(?:(?:${below})(?:/${PART})*/?(?!\w)|(?:${PART}/)*${PART}\.(?:${EXTENSIONS})\b(?![\w/-]))`,
    'g',
  )
  const byName = Map.groupBy(repository.paths, (file) => path.posix.basename(file))

  return (file, passage) => {
    const findings: Finding[] = []
    for (const match of passage.text.matchAll(mention)) {
      const said = match[0].replace(/[.,-]+$/, '')
      const goesOn = passage.text[match.index + match[0].length] === '…'
      if (!namesFile(said) || elsewhere.some(([name]) => name.test(said))) continue
      const why = whyDead(file, said, goesOn ? match[0] : null)
      if (why !== null) findings.push({ file, line: lineOf(passage, match.index), said, why })
    }
    return findings
  }

  /** `deploy` may be an ordinary word, `Node.js` is not a file, and `example.com/` is not a folder. */
  function namesFile(said: string): boolean {
    if (/^[A-Z]/.test(said)) return said.endsWith('.md')
    return !/^\w[\w-]*\.\w+\//.test(said) && /[./]/.test(said)
  }

  function whyDead(file: string, said: string, start: string | null): string | null {
    if (start !== null && repository.paths.some((one) => one.startsWith(start))) return null
    if (repository.has(said) || repository.has(path.posix.join(path.posix.dirname(file), said))) return null
    if (/[*{]/.test(said)) {
      const pattern = patternOf(said)
      return repository.paths.some((one) => pattern.test(one)) ? null : 'nothing in the repository has such a name'
    }
    const named = (byName.get(path.posix.basename(said)) ?? []).filter((one) => `/${one}`.endsWith(`/${said}`))
    const near = named.filter((one) => packageOf(one) === packageOf(file))
    if (near.length > 0 || named.length === 1) return null
    return named.length === 0 ? 'there is no such file' : `${named.length} files have this name: say which`
  }
}

/** `services/gateway`, or the top-level folder. */
function packageOf(file: string): string {
  const parts = file.split('/')
  return parts.slice(0, /^(services|packages|clients|tools)$/.test(parts[0]!) ? 2 : 1).join('/')
}

/** A glob as a pattern that matches the ends of paths, and folders along them. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/\/$/, '').replaceAll(/\*+|\{[^}]*\}|[^*{]+/g, (part) => {
    if (part.startsWith('*')) return part === '**' ? '.*' : '[^/]*'
    if (!part.startsWith('{')) return part.replaceAll(/[.+?^$()|[\]\\]/g, String.raw`\$&`)
    return `(?:${part
      .slice(1, -1)
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', '[^/]*')
      .replaceAll(',', '|')})`
  })
  return new RegExp(`(?:^|/)${source}(?:/|$)`)
}

const REFERENCE = /(?:(?<page>[A-Za-z][A-Za-z-]*)\s+)?§(?<number>[A-Z]?\d+(?:\.\d+)*|)/g
/** Text between two sections of one page: `rules §3.2, §3.4 and §4.1`. */
const GOES_ON = /^[\s,;]*(?:and|or|to)?\s*$/

/**
 * References such as `rules §3.2` to a missing heading.
 * @param pages by name
 * @param own the page of the passage, whose sections need no name
 */
function deadSections(file: string, passage: Passage, pages: ReadonlyMap<string, Page>, own: string | null): Finding[] {
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

/** References to documents that are not in the repository. */
const FORMS = [
  /(?<![\w/-])decisions\.md\b/gi,
  /(?<![\w/-])spec\.md\b/gi,
  /\bspec\s+\d+(?:\.\d+)*/gi,
  /\barchitecture\.md,?\s+(?:"|rule|section|money)/gi,
  /\b(?:rule\s+\d+\s+of\s+the\s+)?money\s+core\s+\d+/gi,
  /\brules?\s+\d+(?:\.\d+)?\s+of\s+the\s+money\s+core/gi,
  /\bcrash\s+matrix\b/gi,
  /\bsecurity\s+checklist\b/gi,
  /(?<![\w/.-])lexicon\.md\b/gi,
  /\bI\d+\s+to\s+I\d+\b/g,
]

/** Finds references in one of these forms. */
function oldReferences(file: string, passage: Passage): Finding[] {
  return FORMS.flatMap((form) =>
    [...passage.text.matchAll(form)].map((match) => ({
      file,
      line: lineOf(passage, match.index),
      said: match[0].replaceAll(/\s+/g, ' '),
      why: 'it leads to no document of the repository',
    })),
  )
}
