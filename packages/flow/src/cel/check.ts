import { type BinaryOperator, CelProblem, type Tree } from './read.ts'
import type { CelType } from './values.ts'

/**
 * Returns the type of an expression's value as far as it is known. A variable may also be null (an omitted optional
 * input), so comparing anything with null is valid.
 * @throws CelProblem if the expression can't work for values of these types
 */
export function typeOfTree(tree: Tree, types: ReadonlyMap<string, CelType>): CelType {
  const inner = (child: Tree) => typeOfTree(child, types)
  switch (tree.op) {
    case 'literal':
      return tree.value === null ? 'null' : (typeof tree.value as 'string' | 'number' | 'boolean')
    case 'name':
      return types.get(tree.name) ?? 'dyn'
    case 'field':
      expect(inner(tree.operand), 'object', `reads the field ${tree.key} of`)
      return 'dyn'
    case 'has':
      expect(inner(tree.operand), 'object', `looks for the field ${tree.key} in`)
      return 'boolean'
    case 'index':
      return typeOfIndex(inner(tree.operand), inner(tree.index))
    case 'list':
      tree.items.forEach(inner)
      return 'list'
    case 'map':
      for (const [key, value] of tree.entries) {
        expect(inner(key), 'string', 'has as a key')
        inner(value)
      }
      return 'object'
    case 'not':
      expect(inner(tree.operand), 'boolean', 'negates')
      return 'boolean'
    case 'minus':
      expect(inner(tree.operand), 'number', 'negates')
      return 'number'
    case 'and':
    case 'or':
      expect(inner(tree.left), 'boolean', 'has on the left of && or ||')
      expect(inner(tree.right), 'boolean', 'has on the right of && or ||')
      return 'boolean'
    case 'if':
      expect(inner(tree.condition), 'boolean', 'asks before ?')
      return joined(inner(tree.yes), inner(tree.no))
    case 'binary':
      return typeOfBinary(tree.operator, inner(tree.left), inner(tree.right))
    case 'call':
      return typeOfCall(tree, tree.args.map(inner))
    case 'each':
      return typeOfEach(tree, types)
  }
}

const fits = (type: CelType, wanted: CelType) => type === wanted || type === 'dyn' || wanted === 'dyn'

function expect(type: CelType, wanted: CelType, doing: string): void {
  if (!fits(type, wanted)) throw new CelProblem(`${doing} ${said(type)}, where ${said(wanted)} is needed`)
}

function joined(a: CelType, b: CelType): CelType {
  return a === b ? a : 'dyn'
}

function typeOfIndex(operand: CelType, index: CelType): CelType {
  if (operand === 'list') expect(index, 'number', 'takes from a list by')
  else {
    expect(operand, 'object', 'takes an element of')
    if (operand === 'object') expect(index, 'string', 'takes from an object by')
  }
  return 'dyn'
}

/** Operand types of operators whose operands must have the same type, and the result type. */
const sameTyped: Partial<Record<BinaryOperator, [operands: CelType[], gives: CelType | null]>> = {
  '+': [['number', 'string', 'list'], null],
  '-': [['number'], 'number'],
  '*': [['number'], 'number'],
  '/': [['number'], 'number'],
  '%': [['number'], 'number'],
  '<': [['number', 'string', 'boolean'], 'boolean'],
  '<=': [['number', 'string', 'boolean'], 'boolean'],
  '>': [['number', 'string', 'boolean'], 'boolean'],
  '>=': [['number', 'string', 'boolean'], 'boolean'],
}

function typeOfBinary(operator: BinaryOperator, left: CelType, right: CelType): CelType {
  const refused = () => new CelProblem(`puts ${operator} between ${said(left)} and ${said(right)}`)
  if (operator === '==' || operator === '!=') {
    if (!fits(left, right) && left !== 'null' && right !== 'null') throw refused()
    return 'boolean'
  }
  if (operator === 'in') {
    if (right === 'object' ? !fits(left, 'string') : !fits(right, 'list')) throw refused()
    return 'boolean'
  }
  const [operands, gives] = sameTyped[operator]!
  const fitting = operands.filter((operand) => fits(left, operand) && fits(right, operand))
  if (fitting.length === 0) throw refused()
  return gives ?? (fitting.length === 1 ? fitting[0]! : 'dyn')
}

function typeOfCall({ name, overloads }: Tree & { op: 'call' }, args: CelType[]): CelType {
  const fitting = overloads.filter(({ takes }) => takes.every((taken, at) => fits(args[at]!, taken)))
  if (fitting.length === 0) throw new CelProblem(`calls ${name}() with ${args.map(said).join(', ')}`)
  return fitting.map(({ gives }) => gives).reduce(joined)
}

function typeOfEach(
  { macro, range: rangeTree, name, where, step }: Tree & { op: 'each' },
  types: ReadonlyMap<string, CelType>,
): CelType {
  const range = typeOfTree(rangeTree, types)
  // Macros iterate over the keys of an object.
  if (range !== 'object') expect(range, 'list', `goes with ${macro}() through`)
  const inner = new Map(types).set(name, range === 'object' ? 'string' : 'dyn')
  if (where) expect(typeOfTree(where, inner), 'boolean', `chooses in ${macro}() by`)
  const made = typeOfTree(step, inner)
  if (macro === 'map') return 'list'
  expect(made, 'boolean', `decides in ${macro}() by`)
  return macro === 'filter' ? 'list' : 'boolean'
}

const nouns: Record<CelType, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
  object: 'an object',
  list: 'a list',
  dyn: 'anything',
}

export function said(type: CelType): string {
  return nouns[type]
}
