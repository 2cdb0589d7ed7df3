/** Calls in the time of one execution, of which five are its own. */
export const CALLS_AN_EXECUTION = 100

/** Rows of each kind. Those that no project has many of do not depend on the number of calls. */
export function sizeOf(calls: number) {
  const share = (count: number) => Math.max(5, Math.round((count * calls) / 1_000_000))
  return {
    calls,
    keys: share(2_000),
    members: 50,
    tags: 20,
    flows: share(500),
    executions: Math.floor(calls / CALLS_AN_EXECUTION),
    revisions: 100,
    fundings: share(500),
    changes: share(50_000),
    notices: share(5_000),
    assets: share(5_000),
    tokens: share(300),
    organizations: share(2_000),
    otherProjects: share(10_000),
    /** Of the other projects, in the organization of the project. */
    siblings: share(100),
  }
}

export type Size = ReturnType<typeof sizeOf>

/** An id with a number instead of a time and random digits, as SQL. */
export function idSql(prefix: 'key' | 'prj' | 'sbx' | 'ten' | 'usr' | 'whk', n: string): string {
  return `'${prefix}${prefix === 'sbx' ? '-' : '_'}' || lpad((${n})::text, 26, '0')`
}

/** The same id. */
export function idOf(prefix: Parameters<typeof idSql>[0], n: number): string {
  return `${prefix}${prefix === 'sbx' ? '-' : '_'}${String(n).padStart(26, '0')}`
}
