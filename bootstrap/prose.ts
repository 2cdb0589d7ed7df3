// `node bootstrap/prose.ts [path part …]`: prints lines of code, comments and documentation with a construction that
// docs/style.md bans.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const CHECKED = /(\.(tsx?|js|sql|prisma|md|css|html|sh)|\.ya?ml|Dockerfile)$/
const EXEMPT = /^(docs\/(style|specification)\.md|pnpm-lock\.yaml)$|\/generated\//

interface Banned {
  pattern: RegExp
  refused: string
  write: string
}

/** Rows of the tables in docs/style.md whose first column is a pattern. */
export function bannedConstructions(page = readFileSync(join(projectFolder, 'docs/style.md'), 'utf8')): Banned[] {
  return page.split('\n').flatMap((line) => {
    const [, pattern, refused, write] = /^\| `(.+?)` \| (.+?) \| (.+) \|$/.exec(line) ?? []
    if (pattern === undefined) return []
    return [{ pattern: new RegExp(pattern.replaceAll('\\|', '|'), 'i'), refused: refused!, write: write! }]
  })
}

interface Found {
  line: number
  found: string
  write: string
}

/** Banned constructions in a text, with the line number of each. */
export function bannedIn(text: string, banned = bannedConstructions()): Found[] {
  return text.split('\n').flatMap((content, index) =>
    banned.flatMap(({ pattern, write }) => {
      const match = pattern.exec(content)
      return match ? [{ line: index + 1, found: match[0], write }] : []
    }),
  )
}

/** Paths that git tracks or would track, relative to the folder. */
function projectFiles(folder = projectFolder): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const parts = process.argv.slice(2)
  const banned = bannedConstructions()
  const files = projectFiles().filter(
    (file) =>
      CHECKED.test(file) &&
      !EXEMPT.test(file) &&
      existsSync(join(projectFolder, file)) &&
      (parts.length === 0 || parts.some((part) => file.includes(part))),
  )
  let count = 0
  for (const file of files)
    for (const text of [file, readFileSync(join(projectFolder, file), 'utf8')])
      for (const { line, found, write } of bannedIn(text, banned)) {
        count++
        process.stdout.write(`${file}:${line}: "${found}": write ${write}\n`)
      }
  process.stdout.write(count === 0 ? 'No banned constructions.\n' : `${count} banned constructions (docs/style.md).\n`)
  process.exitCode = count === 0 ? 0 : 1
}
