import path from 'node:path'
import { readArguments, type MutateOptions } from './arguments.ts'
import { openCommit, makeCopy, type ThrowAwayCopy } from './throw-away-copy.ts'
import { fitting, type Looked, mutations } from './mutations.ts'
import { isKilled, summary, verdictLine, type Tried, type Verdict } from './verdict.ts'
import { mutate, type Mutation } from './mutation.ts'

// npm run mutations
// Exit codes: 0 all were killed (or --list: all fit), 1 not, 64 wrong usage, 130 interrupted.

/** Tests that take longer count as hanging. */
const LIMIT_MS = 600_000
const projectFolder = path.resolve(import.meta.dirname, '../../..')

const options = readArguments(
  process.argv.slice(2),
  mutations.map(({ id }) => id),
)
if ('usage' in options) {
  process[options.wrong ? 'stderr' : 'stdout'].write(options.usage)
  process.exit(options.wrong ? 64 : 0)
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
const print = (line: string) => void process.stdout.write(`${line}\n`)

try {
  process.exitCode = (await mutateAll(options)) ? 0 : 1
} catch (error) {
  process.exitCode = 1
  if (!stop.signal.aborted) process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
}
if (stop.signal.aborted) process.exitCode = 130

/** Returns whether every mutation was killed, or with --list fits. */
async function mutateAll({ only, at, list }: MutateOptions): Promise<boolean> {
  const tree = await openCommit(projectFolder, at ?? 'HEAD')
  const wanted = mutations.filter(({ id }) => only === null || only.includes(id))
  const looked = await fitting(tree.read, wanted)
  if (list) for (const { mutation } of looked) print(`${mutation.id.padEnd(widthOf(looked))}  ${mutation.rule}`)
  // Another commit may lack a rule. In HEAD, or if a text occurs twice, the list is wrong.
  const wrong = looked.flatMap(({ unfit }) => (unfit && (at === null || !unfit.missing) ? [unfit.message] : []))
  if (wrong.length > 0) throw new Error([...wrong, 'Correct this in tools/mutations/src/rules.'].join('\n'))
  if (list) {
    const fit = looked.filter(({ unfit }) => unfit === null)
    print(`\n${fit.length} of ${looked.length} fit ${tree.commit.slice(0, 12)}`)
    return true
  }

  print(`Mutations of ${tree.commit.slice(0, 12)}, in a copy that is removed at the end`)
  const copy = await makeCopy(tree, { projectFolder, env: process.env, limitMs: LIMIT_MS, stop: stop.signal })
  try {
    const tried = await tryAll(copy, looked)
    print(`\n${summary(tried)}`)
    return tried.every(({ verdict }) => isKilled(verdict) || verdict.kind === 'not-applicable')
  } finally {
    await copy.remove()
  }
}

async function tryAll(copy: ThrowAwayCopy, looked: readonly Looked[]): Promise<Tried[]> {
  const passing = new Set<string>()
  const tried: Tried[] = []
  for (const { mutation, unfit } of looked) {
    const startedAt = performance.now()
    const verdict: Verdict =
      unfit === null
        ? await tryMutation(copy, mutation, passing, LIMIT_MS)
        : { kind: 'not-applicable', why: unfit.message }
    const { id, rule } = mutation
    const one = { id, rule, verdict, ms: performance.now() - startedAt }
    tried.push(one)
    print(verdictLine(one, widthOf(looked)))
  }
  return tried
}

function widthOf(looked: readonly Looked[]): number {
  return Math.max(...looked.map(({ mutation }) => mutation.id.length))
}

type Copy = Pick<ThrowAwayCopy, 'read' | 'write' | 'test'>

/**
 * Applies a mutation, runs its tests, and restores the file. A test file that fails is run again without the mutation,
 * unless it is known to pass: only a test that passes then has detected the mutation.
 * @param passing test files known to pass; grows
 */
async function tryMutation(copy: Copy, mutation: Mutation, passing: Set<string>, limitMs: number): Promise<Verdict> {
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
