import type { RevisionRecord } from '@gateway/contracts/console/sandboxes'

/** A revision as it is stored. */
export interface RevisionRow {
  number: number
  draft: boolean
  baseRevision: number | null
  graph: Uint8Array
  problems: Uint8Array
  digest: string | null
  package: Uint8Array | null
  createdBy: string
  createdAt: Date
}

/**
 * A `RevisionRecord` as JSON text, the same for ever. What is stored as JSON goes into it byte by byte: a package that was parsed and written
 * again could be another text than the one that its digest is of.
 */
export function revisionText(row: RevisionRow): string {
  const { number, draft, baseRevision, digest, createdBy, createdAt } = row
  const plain = { number, draft, baseRevision, digest, createdBy, createdAt: createdAt.toISOString() }
  const stored = {
    graph: textOf(row.graph),
    problems: textOf(row.problems),
    package: row.package === null ? 'null' : textOf(row.package),
  } satisfies Record<Exclude<keyof RevisionRecord, keyof typeof plain>, string>
  const members = Object.entries(stored).map(([name, text]) => `"${name}":${text}`)
  return `${JSON.stringify(plain).slice(0, -1)},${members.join(',')}}`
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
