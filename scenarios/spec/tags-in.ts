import { parseSync, type Expression, type Node } from 'oxc-parser'

/** A test that runs, with the IDs of the statements that its tags name. */
export interface TaggedTest {
  /** Titles of its groups and its own, as in the source: `bodies › ${what} [${code}]`. */
  title: string
  proves: readonly string[]
}

const TAG = /^\s*spec:/
const TAGS_BELOW = /(?:\n[ \t]*\/\/ spec:.*)*\n[ \t]*/y
const RUNS_NOT = new Set(['skip', 'todo'])
const MAKES_NO_TEST = new Set(['extend', 'override', 'beforeEach', 'beforeAll', 'afterEach', 'afterAll'])

/**
 * The tests of a file, and the IDs of tags that aren't above a test. A tag is one or more lines such as `// spec: 4.2/s7, 3.1/r2` directly
 * above the test. A tag above a loop or a group applies to each test in it.
 */
export function tagsIn(file: string, source: string): { tests: TaggedTest[]; lost: string[] } {
  const { program, comments } = parseSync(file, source)
  const tags = Map.groupBy(
    comments.filter(({ value }) => TAG.test(value)),
    ({ end }) => endOfTags(source, end),
  )
  const idsAt = (start: number) =>
    tags.get(start)?.flatMap(({ value }) => value.replace(TAG, '').match(/[^\s,]+/g) ?? []) ?? []
  const tests: TaggedTest[] = []
  const used = new Set<number>()

  function visit(node: Node, groups: readonly string[], above: ReadonlySet<number>): void {
    const starts = tags.has(node.start) ? new Set([...above, node.start]) : above
    const found = node.type === 'CallExpression' ? titled(node, source) : null
    if (found?.kind === 'skipped') return
    const inside = found === null ? groups : [...groups, found.title]
    if (found?.kind === 'test') {
      tests.push({ title: inside.join(' › '), proves: [...starts].flatMap(idsAt) })
      for (const start of starts) used.add(start)
    }
    for (const child of childrenOf(node)) visit(child, found?.kind === 'describe' ? inside : groups, starts)
  }
  for (const child of childrenOf(program)) visit(child, [], new Set())
  return { tests, lost: [...tags.keys()].filter((start) => !used.has(start)).flatMap(idsAt) }
}

/** Offset of the code below the tags. */
function endOfTags(source: string, from: number): number {
  TAGS_BELOW.lastIndex = from
  return TAGS_BELOW.test(source) ? TAGS_BELOW.lastIndex : from
}

function titled(
  call: Extract<Node, { type: 'CallExpression' }>,
  source: string,
): { kind: 'test' | 'describe' | 'skipped'; title: string } | null {
  const [first] = call.arguments
  const title = first === undefined ? null : textOf(first, source)
  const { name, modifiers } = calleeOf(call.callee)
  const kind = name === 'describe' ? name : /^test$|Test$/.test(name) ? 'test' : null
  if (title === null || kind === null || modifiers.some((one) => MAKES_NO_TEST.has(one))) return null
  return { kind: modifiers.some((one) => RUNS_NOT.has(one)) ? 'skipped' : kind, title }
}

/** Callee name and modifiers: for `test.for([…])`, `test` and `['for']`. */
function calleeOf(callee: Expression | Node): { name: string; modifiers: string[] } {
  if (callee.type === 'Identifier') return { name: callee.name, modifiers: [] }
  if (callee.type === 'CallExpression') return calleeOf(callee.callee)
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return { name: '', modifiers: [] }
  const { name, modifiers } = calleeOf(callee.object)
  return { name, modifiers: [...modifiers, callee.property.name] }
}

function textOf(node: Node, source: string): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  return node.type === 'TemplateLiteral' ? source.slice(node.start + 1, node.end - 1) : null
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value)
}
