import { lineOf, type Passage } from './comments-of.ts'
import type { Finding, Repository } from './repository.ts'

const CREATED =
  /CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|TYPE)(?: IF NOT EXISTS)? (?<name>(?:money|control)\.\w+)/g
const NAMED = /(?<![\w./-])(?<name>(?:money|control)\.[a-z_]+\w*)(?!\.|\w|\/)/g

/** Returns a check for names of tables, views, functions or types that no SQL of the repository creates. */
export function openDatabaseNameCheck(repository: Repository): (file: string, passage: Passage) => Finding[] {
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
