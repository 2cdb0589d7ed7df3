// A rule of the code, and how it is broken on purpose. Tests that are worth something fail then.

export interface Mutation {
  /** Two or three words: the part, then the rule. */
  id: string
  /** The rule that is broken, as one sentence. */
  rule: string
  /** From the project's folder. */
  file: string
  /** Is in the file exactly once. */
  find: string
  replace: string
  /** Vitest path filters, wide enough to find the tests of the rule also after they were moved. */
  tests: readonly string[]
}

export type Applied = { kind: 'mutated'; text: string } | { kind: 'unfit'; count: number }

/** The text of a file with the rule broken; unfit where `find` does not are in it exactly once. */
export function mutate(text: string, { find, replace }: Pick<Mutation, 'find' | 'replace'>): Applied {
  const parts = text.split(find)
  return parts.length === 2
    ? { kind: 'mutated', text: parts.join(replace) }
    : { kind: 'unfit', count: parts.length - 1 }
}

/** What is wrong with a mutation whose `find` is unfit. */
export function unfitMessage({ id, file }: Pick<Mutation, 'id' | 'file'>, count: number | null): string {
  const what = count === null ? 'is not there' : `has the text of \`find\` ${count} times, not once`
  return `${id}: ${file} ${what}.`
}
