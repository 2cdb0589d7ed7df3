import type { CelFunction } from './functions.ts'

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'
export type Macro = 'all' | 'exists' | 'exists_one' | 'filter' | 'map'

/** An expression that has been read: only what we evaluate, whatever the parser knows besides. */
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
  /** Of a method the receiver is the first argument. */
  | { op: 'call'; name: string; overloads: CelFunction[]; args: Tree[] }
  /** `where` is null but for `map` with a filter; `step` is the predicate, or what `map` makes. */
  | { op: 'each'; macro: Macro; range: Tree; name: string; where: Tree | null; step: Tree }
