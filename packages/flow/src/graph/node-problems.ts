import type { Graph, GraphProblem } from '@gateway/contracts/graph'
import { flowLimits } from '@gateway/contracts/limits'
import { jsonFault } from '../json-fault.ts'
import { nodeKinds, productOf } from '../node-kinds.ts'
import type { ProductFacts } from '../node-kind.ts'
import { problem } from '../problem.ts'
import type { Layout, Placed } from './layout.ts'
import { notes } from './notes.ts'

const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** What is wrong with nodes by themselves: how many there are, their ids, kinds and own fields. */
export function nodeProblems(graph: Graph, { placed }: Layout): GraphProblem[] {
  const problems = countProblems(graph, placed)
  const ids = new Set<string>()
  for (const [ordinal, { id, kind }] of graph.nodes.entries()) {
    const node = id.slice(0, 64)
    if (!NODE_ID.test(id))
      problems.push(
        problem(
          'node_id_invalid',
          { node },
          `The node id ${JSON.stringify(node)} can not be used.`,
          'Use a letter, then up to 63 letters, digits, _ and -.',
        ),
      )
    if (ids.has(id))
      problems.push(
        problem(
          'node_id_duplicate',
          { node },
          `Several nodes have the id ${node}.`,
          'Give each node an id of its own.',
        ),
      )
    ids.add(id)
    const known = placed[ordinal]
    if (known) problems.push(...ownProblems(known))
    else
      problems.push(
        problem(
          'kind_unknown',
          { node },
          `The node ${node} has the kind ${kind.slice(0, 64)}, which does not exist.`,
          `Use one of ${nodeKinds.map(({ kind }) => kind).join(', ')}.`,
        ),
      )
  }
  return problems
}

function ownProblems({ node, kind, look }: Placed): GraphProblem[] {
  const known = ['id', 'kind', ...kind.fields, ...notes]
  const unknown = Object.keys(node).filter((field) => !known.includes(field))
  const fault = jsonFault(node)
  return [
    ...(fault === null
      ? []
      : [problem('field_invalid', { node: node.id }, `The node ${node.id} ${fault}.`, 'Write plain JSON.')]),
    ...unknown.map((field) =>
      problem(
        'field_unknown',
        { node: node.id },
        `The node ${node.id} has ${field.slice(0, 64)}, which a ${kind.kind} node does not have.`,
        `Leave it out; it may have ${[...kind.fields, ...notes].join(', ')}.`,
      ),
    ),
    ...look.problems.map(({ code, port, message, resolution }) =>
      problem(code, { node: node.id, port: port ?? null }, message, resolution),
    ),
  ]
}

function countProblems(graph: Graph, placed: (Placed | null)[]): GraphProblem[] {
  const problems: GraphProblem[] = []
  const atMost = (
    code: 'too_many_nodes' | 'too_many_edges' | 'too_many_paid_nodes',
    there: number,
    limit: number,
    what: string,
  ) => {
    if (there > limit)
      problems.push(
        problem(
          code,
          {},
          `The flow has ${there} ${what}, more than ${limit}.`,
          `Leave at most ${limit}, or make two flows of it.`,
        ),
      )
  }
  const paid = placed.filter((node) => node?.kind.calls).length
  atMost('too_many_nodes', graph.nodes.length, flowLimits.nodes, 'nodes')
  atMost('too_many_edges', graph.edges.length, flowLimits.edges, 'edges')
  atMost('too_many_paid_nodes', paid, flowLimits.paidNodes, 'nodes that call products')
  for (const [code, name] of [
    ['input_count', 'input'],
    ['output_count', 'output'],
  ] as const) {
    const there = graph.nodes.filter(({ kind }) => kind === name).length
    if (there !== 1)
      problems.push(
        problem(code, {}, `The flow has ${there} nodes of the kind ${name}.`, `Give it exactly one ${name} node.`),
      )
  }
  return problems
}

/** What is wrong with the products that nodes name. A product of the catalogue and one that never was are told alike. */
export function productProblems({ placed, into }: Layout, products: ReadonlyMap<string, ProductFacts>): GraphProblem[] {
  return placed.flatMap((known) => {
    const product = known && productOf(known.node)
    if (!known || product === null || product === '') return []
    const { id, node, kind, ordinal } = known
    const at = { node: id }
    const facts = products.get(product)
    if (!facts?.assigned)
      return problem(
        'product_not_assigned',
        at,
        `This project can not call the product ${product.slice(0, 128)} of node ${id} now: it is not assigned, or it is not published.`,
        'Ask an administrator of the organization to assign the product to the project, or name another one.',
      )
    if (facts.kind !== kind.calls)
      return problem(
        'product_kind',
        at,
        `The product ${product} of node ${id} is of the kind ${facts.kind}, and a ${kind.kind} node calls one of the kind ${kind.calls}.`,
        `Use a product.${facts.kind} node, or name another product.`,
      )
    const wired = new Set(into[ordinal]!.keys())
    return (kind.problemsWith?.(node, facts, wired) ?? []).map(({ code, port, message, resolution }) =>
      problem(code, { ...at, port: port ?? null }, message, resolution),
    )
  })
}
