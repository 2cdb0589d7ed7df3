// A rule of the code, and how to break it on purpose. Effective tests then fail.

export interface Mutation {
  /** Two or three words: the component, then the rule. */
  id: string
  /** The rule that the mutation breaks, as one sentence. */
  rule: string
  /** Relative to the project folder. */
  file: string
  /** Must occur in the file exactly once. */
  find: string
  replace: string
  /** Vitest path filters, wide enough to match the tests of the rule even after they move. */
  tests: readonly string[]
}

export type Applied = { kind: 'mutated'; text: string } | { kind: 'unfit'; count: number }

/** Returns the text of a file with the rule broken; unfit if `find` does not occur in it exactly once. */
export function mutate(text: string, { find, replace }: Pick<Mutation, 'find' | 'replace'>): Applied {
  const parts = text.split(find)
  return parts.length === 2
    ? { kind: 'mutated', text: parts.join(replace) }
    : { kind: 'unfit', count: parts.length - 1 }
}

/** Words the problem of a mutation whose `find` is unfit. */
export function unfitMessage({ id, file }: Pick<Mutation, 'id' | 'file'>, count: number | null): string {
  const what = count === null ? 'is not there' : `has the text of \`find\` ${count} times, not once`
  return `${id}: ${file} ${what}.`
}
