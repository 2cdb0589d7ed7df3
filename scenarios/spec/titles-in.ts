import { parseSync, type Expression, type Node } from 'oxc-parser'

const RUNS_NOT = new Set(['skip', 'todo'])
const MAKES_NO_TEST = new Set(['extend', 'override', 'beforeEach', 'beforeAll', 'afterEach', 'afterAll'])

/**
 * The tests of a file by their full titles: those of the groups around a test and its own, as they stand in the source, with
 * ` › ` between them, such as `bodies › ${what} [${code}]`. What is skipped is none of them.
 */
export function titlesIn(file: string, source: string): Set<string> {
  const titles = new Set<string>()
  const { program } = parseSync(file, source)

  function visit(node: Node, groups: readonly string[]): void {
    const found = node.type === 'CallExpression' ? titled(node, source) : null
    if (found?.kind === 'skipped') return
    if (found?.kind === 'test') titles.add([...groups, found.title].join(' › '))
    const inside = found?.kind === 'describe' ? [...groups, found.title] : groups
    for (const child of childrenOf(node)) visit(child, inside)
  }
  visit(program, [])
  return titles
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

/** Of `test.for([…])`: `test`, `['for']`. */
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
