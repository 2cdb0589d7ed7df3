import { createHash } from 'node:crypto'
import type { Statement } from './split-specification.ts'
import type { TaggedTest } from './tags-in.ts'

/** Tests that prove the statements, and digests of the statements as last accepted. */
export interface Proofs {
  tests: readonly (TaggedTest & { file: string })[]
  /** IDs in tags that aren't directly above a test. */
  lost: readonly { file: string; id: string }[]
  nothingToProve: Readonly<Record<string, string>>
  digests: Readonly<Record<string, string>>
}

export interface Problem {
  id: string
  what: string
}

/** Digest that detects a changed statement, since a tag has only its number. digests.txt has the accepted ones. */
export function digestOf({ says }: Statement): string {
  return createHash('sha256').update(says).digest('hex').slice(0, 8)
}

/** Inconsistencies between the statements, the tags of the tests, nothing-to-prove.ts and digests.txt. */
export function checkProofs(statements: readonly Statement[], proofs: Proofs): Problem[] {
  const { tests, lost, nothingToProve, digests } = proofs
  const known = new Set(statements.map(({ id }) => id))
  const proved = new Set(tests.flatMap(({ proves }) => proves))

  function problemsOf(statement: Statement): string[] {
    const { id, says } = statement
    const needsNone = Boolean(nothingToProve[id])
    const digest = digestOf(statement)
    const before = Object.keys(digests).find((one) => digests[one] === digest)
    const news = before === undefined ? 'has changed' : `was ${before}`
    return [
      ...(!needsNone && !proved.has(id) ? [`has no test: ${says}`] : []),
      ...(needsNone && proved.has(id) ? ['has a test but is listed in nothing-to-prove.ts'] : []),
      ...(digests[id] === digest ? [] : [`${news}; review its tests, then run npm run spec -- --accept: ${says}`]),
    ]
  }
  const strays = (list: string, ids: readonly string[]) =>
    ids.filter((id) => !known.has(id)).map((id) => ({ id, what: `is not a statement but is named in ${list}` }))

  return [
    ...statements.flatMap((one) => problemsOf(one).map((what) => ({ id: one.id, what }))),
    ...tests.flatMap(({ file, title, proves }) => strays(`${file} above “${title}”`, proves)),
    ...strays('nothing-to-prove.ts', Object.keys(nothingToProve)),
    ...strays('digests.txt (npm run spec -- --accept)', Object.keys(digests)),
    ...lost.map(({ file, id }) => ({ id, what: `is tagged in ${file} above no test that runs` })),
  ]
}
