import { createHash } from 'node:crypto'
import type { Statement } from './split-specification.ts'
import type { TaggedTest } from './tags-in.ts'

/** What holds the statements true, and what they said when that was last looked at. */
export interface Proofs {
  tests: readonly (TaggedTest & { file: string })[]
  /** Named in tags that are above no test. */
  lost: readonly { file: string; id: string }[]
  nothingToProve: Readonly<Record<string, string>>
  digests: Readonly<Record<string, string>>
}

export interface Problem {
  id: string
  what: string
}

/** A tag gives the number of a sentence alone, so a changed text is noticed by its digest, which is in digests.txt. */
export function digestOf({ says }: Statement): string {
  return createHash('sha256').update(says).digest('hex').slice(0, 8)
}

/** What is wrong between the statements, the tags of the tests, and the two lists alongside them. */
export function checkProofs(statements: readonly Statement[], proofs: Proofs): Problem[] {
  const { tests, lost, nothingToProve, digests } = proofs
  const known = new Set(statements.map(({ id }) => id))
  const proved = new Set(tests.flatMap(({ proves }) => proves))

  function problemsOf(statement: Statement): string[] {
    const { id, says } = statement
    const needsNone = Boolean(nothingToProve[id])
    const digest = digestOf(statement)
    const before = Object.keys(digests).find((one) => digests[one] === digest)
    const news = before === undefined ? 'says something new' : `was ${before}`
    return [
      ...(!needsNone && !proved.has(id) ? [`has no test: ${says}`] : []),
      ...(needsNone && proved.has(id) ? ['has a test, and is in nothing-to-prove.ts'] : []),
      ...(digests[id] === digest ? [] : [`${news}; look at its tests, then npm run spec -- --accept: ${says}`]),
    ]
  }
  const strays = (list: string, ids: readonly string[]) =>
    ids.filter((id) => !known.has(id)).map((id) => ({ id, what: `is not a statement, and is named in ${list}` }))

  return [
    ...statements.flatMap((one) => problemsOf(one).map((what) => ({ id: one.id, what }))),
    ...tests.flatMap(({ file, title, proves }) => strays(`${file} above “${title}”`, proves)),
    ...strays('nothing-to-prove.ts', Object.keys(nothingToProve)),
    ...strays('digests.txt (npm run spec -- --accept)', Object.keys(digests)),
    ...lost.map(({ file, id }) => ({ id, what: `is above no test that runs, in ${file}` })),
  ]
}
