import path from 'node:path'
import { lineOf, type Passage } from './comments-of.ts'
import type { Finding, Repository } from './repository.ts'

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
export function openPathCheck(repository: Repository): (file: string, passage: Passage) => Finding[] {
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
