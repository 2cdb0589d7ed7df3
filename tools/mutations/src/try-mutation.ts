import { mutate, type Mutation } from './mutation.ts'
import type { ThrowAwayCopy } from './throw-away-copy.ts'
import type { Verdict } from './verdict.ts'

type Copy = Pick<ThrowAwayCopy, 'read' | 'write' | 'test'>

/**
 * Applies a mutation, runs its tests, and restores the file. A test file that fails is run again without the mutation,
 * unless it is known to pass: only a test that passes then has detected the mutation.
 * @param passing test files known to pass; grows
 */
export async function tryMutation(
  copy: Copy,
  mutation: Mutation,
  passing: Set<string>,
  limitMs: number,
): Promise<Verdict> {
  const { file, tests } = mutation
  const whole = await copy.read(file)
  const applied = mutate(whole, mutation)
  if (applied.kind === 'unfit') throw new Error(`${mutation.id} was checked before, and no longer fits`)
  await copy.write(file, applied.text)
  const outcome = await copy.test(tests)
  await copy.write(file, whole)
  switch (outcome.kind) {
    case 'passed':
      return { kind: 'survived' }
    case 'late':
      return { kind: 'hangs', limitMs }
    case 'none':
      return { kind: 'unsure', why: outcome.why }
    case 'failed':
      return verify(copy, outcome.file === null ? tests : [outcome.file], outcome.test, passing)
  }
}

async function verify(copy: Copy, files: readonly string[], test: string, passing: Set<string>): Promise<Verdict> {
  const name = files.join(' ')
  if (!passing.has(name) && (await copy.test(files)).kind !== 'passed')
    return { kind: 'unsure', why: `${name} fails without the mutation too` }
  passing.add(name)
  return { kind: 'killed', by: `${name}: ${test}` }
}
