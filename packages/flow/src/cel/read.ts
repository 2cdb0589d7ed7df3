import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { utf8Bytes } from '@gateway/api/text-bytes'
import { type CelFunction, globals, methods } from './functions.ts'

/** Limits of an expression's source (flows §2.4). */
export const celLimits = { sourceBytes: 2048, nodes: 200, depth: 16 } as const

// Only the parser of the library is used. Its other features, such as time zones, regular expressions and bindings, are
// not evaluated.
const parser = new Environment({
  unlistedVariablesAreDyn: true,
  limits: {
    maxAstNodes: celLimits.nodes,
    maxDepth: celLimits.depth,
    maxListElements: celLimits.nodes,
    maxMapEntries: celLimits.nodes,
    maxCallArguments: 8,
  },
})

/** The source is not a supported expression. The message says why and follows "The expression ". */
export class CelProblem extends Error {}

/** @throws CelProblem */
export function readTree(source: string): { tree: Tree; names: string[] } {
  const bytes = utf8Bytes(source)
  if (bytes > celLimits.sourceBytes) throw new CelProblem(`has ${bytes} bytes, more than ${celLimits.sourceBytes}`)
  const names = new Set<string>()
  return { tree: translate(parse(source), { names, local: null }), names: [...names] }
}

function parse(source: string): ASTNode {
  try {
    return parser.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    if (error.code === 'limit_exceeded')
      throw new CelProblem(
        error.summary.includes('maxDepth')
          ? `is nested deeper than ${celLimits.depth}`
          : `has more than ${celLimits.nodes} parts`,
      )
    throw new CelProblem(`cannot be read: ${error.summary.slice(0, 200)}`)
  }
}

/** Names used so far, and the variable of the enclosing macro. */
interface Scope {
  names: Set<string>
  local: string | null
}

function translate(node: ASTNode, scope: Scope): Tree {
  const inner = (child: ASTNode) => translate(child, scope)
  switch (node.op) {
    case 'value':
      return { op: 'literal', value: literal(node.args) }
    case 'id':
      if (node.args !== scope.local) scope.names.add(node.args)
      return { op: 'name', name: node.args }
    case '.':
      return { op: 'field', operand: inner(node.args[0]), key: node.args[1] }
    case '[]':
      return { op: 'index', operand: inner(node.args[0]), index: inner(node.args[1]) }
    case 'list':
      return { op: 'list', items: node.args.map(inner) }
    case 'map':
      return { op: 'map', entries: node.args.map(([key, value]) => [inner(key), inner(value)]) }
    case '!_':
      return { op: 'not', operand: inner(node.args) }
    case '-_':
      return { op: 'minus', operand: inner(node.args) }
    case '&&':
    case '||':
      return { op: node.op === '&&' ? 'and' : 'or', left: inner(node.args[0]), right: inner(node.args[1]) }
    case '?:': {
      const [condition, yes, no] = node.args
      return { op: 'if', condition: inner(condition), yes: inner(yes), no: inner(no) }
    }
    case 'call':
      return call(node.args[0], node.args[1], scope)
    case 'rcall':
      return methodCall(node.args[0], node.args[1], node.args[2], scope)
    case '.?':
    case '[?]':
      throw new CelProblem('uses optional access, which is not offered')
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return {
        op: 'binary',
        operator: node.op,
        left: inner(node.args[0]),
        right: inner(node.args[1]),
      }
  }
}

function literal(value: unknown): string | number | boolean | null {
  // All numbers are doubles (flows §2.4), so that `n * 2` works for any number n.
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new CelProblem('holds a literal that is not a string, finite number, boolean or null')
}

function call(name: string, args: ASTNode[], scope: Scope): Tree {
  const [first] = args
  if (name === 'has' && args.length === 1 && first?.op === '.')
    return { op: 'has', operand: translate(first.args[0], scope), key: first.args[1] }
  if (name === 'has') throw new CelProblem('uses has() on something else than a field, as in has(order.note)')
  return { op: 'call', name, ...chosen(globals, name, args, scope) }
}

function methodCall(name: string, receiver: ASTNode, args: ASTNode[], scope: Scope): Tree {
  if (MACROS.has(name)) return each(name as Macro, receiver, args, scope)
  if (name === 'matches') throw new CelProblem('uses matches(), which is not offered: a pattern could take forever')
  return { op: 'call', name, ...chosen(methods, name, [receiver, ...args], scope) }
}

function chosen(from: ReadonlyMap<string, CelFunction[]>, name: string, args: ASTNode[], scope: Scope) {
  const overloads = from.get(name)?.filter(({ takes }) => takes.length === args.length) ?? []
  if (overloads.length === 0) throw new CelProblem(`calls ${name}() in a way that is not offered`)
  return { overloads, args: args.map((arg) => translate(arg, scope)) }
}

const MACROS: ReadonlySet<string> = new Set<Macro>(['all', 'exists', 'exists_one', 'filter', 'map'])

function each(macro: Macro, receiver: ASTNode, args: ASTNode[], scope: Scope): Tree {
  const range = translate(receiver, scope)
  const [variable, ...rest] = args
  if (variable?.op !== 'id' || rest.length < 1 || rest.length > (macro === 'map' ? 2 : 1))
    throw new CelProblem(`uses ${macro}() with other arguments than a name and what is to be done with each`)
  // The cost of nested macros is the product of the lengths of their lists.
  if (scope.local !== null) throw new CelProblem(`uses ${macro}() within what another such function does with each`)
  const inner: Scope = { names: scope.names, local: variable.args }
  const steps = rest.map((step) => translate(step, inner))
  return {
    op: 'each',
    macro,
    range,
    name: variable.args,
    where: steps.length === 2 ? steps[0]! : null,
    step: steps.at(-1)!,
  }
}

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'
export type Macro = 'all' | 'exists' | 'exists_one' | 'filter' | 'map'

/** Parsed expression, limited to what is evaluated; the parser supports more. */
export type Tree =
  | { op: 'literal'; value: string | number | boolean | null }
  | { op: 'name'; name: string }
  | { op: 'field' | 'has'; operand: Tree; key: string }
  | { op: 'index'; operand: Tree; index: Tree }
  | { op: 'list'; items: Tree[] }
  | { op: 'map'; entries: [key: Tree, value: Tree][] }
  | { op: 'not' | 'minus'; operand: Tree }
  | { op: 'and' | 'or'; left: Tree; right: Tree }
  | { op: 'if'; condition: Tree; yes: Tree; no: Tree }
  | { op: 'binary'; operator: BinaryOperator; left: Tree; right: Tree }
  /** The receiver of a method is the first argument. */
  | { op: 'call'; name: string; overloads: CelFunction[]; args: Tree[] }
  /** `where` is null except for `map` with a filter; `step` is the predicate, or the result of `map`. */
  | { op: 'each'; macro: Macro; range: Tree; name: string; where: Tree | null; step: Tree }
