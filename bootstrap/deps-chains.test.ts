import path from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { openRepository } from './references/repository.ts'

interface SyntaxNode {
  type: string
  [field: string]: unknown
}

/** Functions that take `deps` and only pass it on, with the names of the functions that receive it. */
function onlyHandOn(source: string): [name: string, receivers: string[]][] {
  const found: [string, string[]][] = []
  visit(parseAst(source, { lang: 'ts' }), (node) => {
    const [name, made] =
      node.type === 'VariableDeclarator'
        ? [node.id, node.init]
        : node.type === 'FunctionDeclaration'
          ? [node.id, node]
          : []
    const { params, body } = (made ?? {}) as { params?: SyntaxNode[]; body?: SyntaxNode }
    if (!params?.some((param) => isDeps(param)) || !body) return
    const receivers: string[] = []
    let uses = 0
    visit(body, (inner) => {
      if (isDeps(inner)) uses++
      if (inner.type !== 'CallExpression' || !(inner.arguments as SyntaxNode[]).some(isDeps)) return
      receivers.push(String((inner.callee as SyntaxNode).name))
    })
    if (receivers.length > 0 && receivers.length === uses) found.push([String((name as SyntaxNode).name), receivers])
  })
  return found
}

function isDeps(node: SyntaxNode): boolean {
  return node.type === 'Identifier' && node.name === 'deps'
}

function visit(value: unknown, each: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) return value.forEach((entry) => visit(entry, each))
  if (typeof value !== 'object' || value === null || !('type' in value)) return
  each(value as SyntaxNode)
  // Property names and types are not uses of a variable.
  for (const [field, inner] of Object.entries(value))
    if (
      !['property', 'key', 'typeAnnotation', 'returnType', 'id'].includes(field) ||
      ('computed' in value && value.computed === true)
    )
      visit(inner, each)
}

/** The longest chain of functions that pass `deps` to the next one and do nothing else with it. */
function longestChain(handOn: ReadonlyMap<string, string[]>): string[] {
  const from = (name: string, above: string[]): string[] => {
    if (!handOn.has(name) || above.includes(name)) return []
    const rests = handOn.get(name)!.map((next) => from(next, [...above, name]))
    return [name, ...longest(rests)]
  }
  return longest([...handOn.keys()].map((name) => from(name, [])))
}

function longest(chains: string[][]): string[] {
  return chains.reduce((best, chain) => (chain.length > best.length ? chain : best), [])
}

test('at most two functions in a chain only pass deps on', () => {
  const { paths, read } = openRepository(path.resolve(import.meta.dirname, '..'))
  const sources = paths.filter((file) => /^(services|packages)\/.+\/src\/.+(?<!\.(test|fixture))\.ts$/.test(file))
  expect(sources.length).toBeGreaterThan(400)
  const chain = longestChain(new Map(sources.flatMap((file) => onlyHandOn(read(file)))))
  expect(chain.length).toBeGreaterThan(0)
  expect(chain.slice(2)).toEqual([])
})

test('longestChain finds a chain of functions that only pass deps on', () => {
  const source = `
    export function first(deps: Deps, id: string) { return second(deps, id) }
    const second = async (deps: Deps, id: string) => { await third(id, deps) }
    async function third(id: string, deps: Pick<Deps, 'a'>) { await last(deps); await last(deps) }
    function last(deps: Deps) { return deps.prisma }
    function reads(deps: Deps) { last(deps); return { deps } }`
  expect(longestChain(new Map(onlyHandOn(source)))).toEqual(['first', 'second', 'third'])
})
