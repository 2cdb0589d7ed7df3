import type { Graph, GraphProblem } from '@gateway/api/graph'
import { chatLimits, flowLimits } from '@gateway/api/limits'
import { jsonFault } from '../json-text.ts'
import { nodeKinds, productOf } from '../node-kinds.ts'
import type { ProductFacts } from '../node-kind.ts'
import { problem } from '../problem.ts'
import { type Layout, notes, type Placed, type Wire } from './layout.ts'
import { exclusivity } from './wiring-problems.ts'

const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** Returns the problems of nodes in isolation: their number, ids, kinds and fields. */
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
          `The node id ${JSON.stringify(node)} cannot be used.`,
          'Use a letter, then up to 63 letters, digits, _ and -.',
        ),
      )
    if (ids.has(id))
      problems.push(
        problem('node_id_duplicate', { node }, `Several nodes have the id ${node}.`, 'Give each node its own id.'),
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

/** Returns the problems with products of nodes. An unassigned product and one that never existed are reported alike. */
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
        `This project cannot call the product ${product.slice(0, 128)} of node ${id} now: it is not assigned, or it is not published.`,
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

// Checks that images from image products fit into the chats they are wired to, so that no execution is charged for an
// image and then fails because of it. The size of images from callers is known only when they are sent.

type Products = ReadonlyMap<string, ProductFacts>

/** Node of an image product, and the maximum size of its images. */
interface Maker {
  node: Placed
  bytes: number
}

export function imageProblems(layout: Layout, products: Products): GraphProblem[] {
  const exclusive = exclusivity(layout)
  return layout.placed.flatMap((chat) => {
    if (chat?.kind.kind !== 'product.chat') return []
    const facts = factsOf(chat, products)
    if (!facts?.imageInput || facts.takesImages === false) return []
    const images = imagesAtOnce(layout.into[chat.ordinal]!.get('image') ?? [], exclusive)
    const made = images.map((wires) => makersOf(layout, products, wires)).filter((makers) => makers.length > 0)
    const reported = [
      ...tooMany(chat, images.length, facts.imageInput.maxCount),
      ...tooLarge(chat, made.flat(), facts.imageInput.maxBytes),
      tooLargeTogether(chat, made),
      tooLong(chat, made.length, facts),
    ]
    return reported.filter((each) => each !== null)
  })
}

function tooMany(chat: Placed, there: number, limit: number): GraphProblem[] {
  if (there <= limit) return []
  return [
    problem(
      'port_unsupported',
      portOf(chat),
      `The product of node ${chat.id} takes at most ${limit} images, and ${there} are led to it.`,
      'Lead fewer images to the node, or call a product that takes more.',
    ),
  ]
}

function tooLarge(chat: Placed, makers: readonly Maker[], limit: number): GraphProblem[] {
  const each = new Map(makers.map((maker) => [maker.node, maker])).values()
  return [...each]
    .filter(({ bytes }) => bytes > limit)
    .map(({ node, bytes }) =>
      problem(
        'image_too_large',
        portOf(chat),
        `The node ${node.id} makes images of up to ${bytes} bytes, and the product of node ${chat.id} takes ${limit} at most.`,
        'Call an image product that makes smaller images, or a chat product that takes larger ones.',
      ),
    )
}

function tooLargeTogether(chat: Placed, made: readonly Maker[][]): GraphProblem | null {
  const together = made.reduce((sum, makers) => sum + Math.max(...makers.map(({ bytes }) => bytes)), 0)
  if (together <= chatLimits.attachmentBytes) return null
  return problem(
    'image_too_large',
    portOf(chat),
    `The images that are led to node ${chat.id} may have ${together} bytes together, and a chat takes ${chatLimits.attachmentBytes} at most.`,
    'Lead fewer images to the node, or call image products that make smaller ones.',
  )
}

/** Checks the images alone plus the output cap against the model's context, with the bound of money §2. */
function tooLong(chat: Placed, images: number, facts: ProductFacts): GraphProblem | null {
  const { imageInput, contextLength = Infinity, maxOutputTokens = Infinity } = facts
  const { max_tokens: asked } = (chat.node['params'] ?? {}) as { max_tokens?: unknown }
  const output = typeof asked === 'number' && asked > 0 ? asked : Math.min(chatLimits.maxTokens.max, maxOutputTokens)
  const needed = images * imageInput!.maxTokens + output
  if (images === 0 || needed <= contextLength) return null
  return problem(
    'image_too_large',
    portOf(chat),
    `The images that are led to node ${chat.id} and its output may take ${needed} tokens, and its product has a context of ${contextLength}.`,
    'Lead fewer images to the node, ask for a smaller max_tokens, or call a product with a larger context.',
  )
}

function portOf({ id }: Placed) {
  return { node: id, port: 'image' }
}

/** Groups the wires of a port so that each group carries at most one value in an execution. */
function imagesAtOnce(wires: readonly Wire[], exclusive: (a: Wire, b: Wire) => boolean): Wire[][] {
  const groups: Wire[][] = []
  for (const wire of wires) {
    const group = groups.find((others) => others.every((other) => exclusive(wire, other)))
    if (group) group.push(wire)
    else groups.push([wire])
  }
  return groups
}

/** Returns the nodes that may produce the image of these wires, through any branches, and its maximum size. */
function makersOf({ into }: Layout, products: Products, wires: readonly Wire[]): Maker[] {
  const makers = new Map<Placed, number>()
  const seen = new Set<string>()
  const open = [...wires]
  for (let wire = open.pop(); wire; wire = open.pop()) {
    const { from, port } = wire
    const source = `${from.ordinal} ${port}`
    if (seen.has(source)) continue
    seen.add(source)
    if (from.kind.kind === 'branch') open.push(...(into[from.ordinal]!.get(port.slice(port.indexOf('.') + 1)) ?? []))
    const bytes = from.kind.calls === 'image' ? factsOf(from, products)?.maxOutputBytes : undefined
    if (bytes !== undefined) makers.set(from, bytes)
  }
  return [...makers].map(([node, bytes]) => ({ node, bytes }))
}

function factsOf({ node }: Placed, products: Products): ProductFacts | null {
  const facts = products.get(productOf(node) ?? '')
  return facts?.assigned ? facts : null
}
