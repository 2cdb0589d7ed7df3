import path from 'node:path'
import { lineOf, type Passage } from './comments-of.ts'
import type { Finding, Repository } from './repository.ts'

const DEFINED = /^[ \t]*(?<letter>[A-Z]\d{1,2})(?= {2,}\S)/gm
const NAMED = /(?<![\w+./§-])(?<letter>[A-Z]\d{1,2})(?![\w-]|\.\d|\/| {2,}\S)/g
/** `F1 of read_executions`, `B8 and B9 of run_batch`. */
const WHERE = /^(?:(?:\s*,\s*|\s+(?:and|to)\s+)[A-Z]\d{1,2})*\s+(?:of|in)\s+(?:the\s+)?`?(?<name>[\w./-]*\w)/
/** Names of other things that look the same, for files without such a rule. */
const OTHER_THINGS = new Set(['S3', 'V8'])

/** The rules in the header of a file, such as `A1`. */
export function invariantsIn(comments: readonly Passage[]): Set<string> {
  return new Set(comments.flatMap(({ text }) => [...text.matchAll(DEFINED)].map(({ groups }) => groups!['letter']!)))
}

/** Returns a check for rules that exist neither in the file itself nor in the file or SQL function named with them. */
export function openInvariantCheck(
  repository: Repository,
  invariantsOf: (file: string) => ReadonlySet<string>,
): (file: string, passage: Passage) => Finding[] {
  const sqlFiles = repository.paths.filter((file) => file.endsWith('.sql'))

  return (file, passage) =>
    [...passage.text.matchAll(NAMED)].flatMap((match) => {
      const letter = match.groups!['letter']!
      if (invariantsOf(file).has(letter)) return []
      const { name } = WHERE.exec(passage.text.slice(match.index + letter.length))?.groups ?? {}
      if (name === undefined && OTHER_THINGS.has(letter)) return []
      const homes = name === undefined ? [] : homesOf(name)
      if (homes.some((home) => invariantsOf(home).has(letter))) return []
      const why =
        name === undefined
          ? 'this file has no such rule, and no other is named'
          : homes.length === 0
            ? `there is no file or SQL function ${name}`
            : `${homes.join(', ')} has no such rule`
      return [
        { file, line: lineOf(passage, match.index), said: name === undefined ? letter : `${letter} of ${name}`, why },
      ]
    })

  function homesOf(name: string): string[] {
    const bare = name.replace(/^(?:money|control)\./, '')
    const created = new RegExp(String.raw`CREATE (?:OR REPLACE )?FUNCTION (?:money|control)\.${bare}\(`)
    return repository.paths
      .filter((one) => `/${one}`.endsWith(`/${name}`) || path.posix.basename(one).replace(/\.\w+$/, '') === name)
      .concat(sqlFiles.filter((one) => /^\w+$/.test(bare) && created.test(repository.read(one))))
  }
}
