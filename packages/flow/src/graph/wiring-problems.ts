import type { Graph, GraphEdge, GraphProblem } from '@gateway/api/graph'
import type { PortType } from '../node-kind.ts'
import { problem } from '../problem.ts'
import { endOf, idsOf, type Layout, type Placed, type Wire } from './layout.ts'
import { typingOf, wantedTypes } from './typing.ts'

/** Returns the problems of the wiring. `optionalFields`: optional fields of the input. */
export function wiringProblems(layout: Layout, optionalFields: ReadonlySet<string>): GraphProblem[] {
  return [
    ...cycleProblems(layout),
    ...missingWires(layout),
    ...lostValues(layout),
    ...takenPorts(layout),
    ...typeProblems(layout),
    ...optionalToRequired(layout, optionalFields),
  ]
}

/** Returns one problem per cycle. */
function cycleProblems({ stuck, wires }: Layout): GraphProblem[] {
  const inStuck = new Set(stuck)
  const next = new Map<Placed, Placed[]>(stuck.map((node) => [node, []]))
  for (const { from, to } of wires) if (inStuck.has(from) && inStuck.has(to)) next.get(from)!.push(to)
  const reached = new Map(stuck.map((node) => [node, reachable(node, next)]))
  const reported = new Set<Placed>()
  return stuck.flatMap((node) => {
    if (reported.has(node) || !reached.get(node)!.has(node)) return []
    const group = stuck.filter((other) => reached.get(node)!.has(other) && reached.get(other)!.has(node))
    for (const member of group) reported.add(member)
    const ids = group.map(({ id }) => id).join(', ')
    return problem(
      'cycle',
      { node: node.id },
      `These nodes wait for each other: ${ids}.`,
      'Take out an edge of the circle.',
    )
  })
}

function reachable(from: Placed, next: Map<Placed, Placed[]>): Set<Placed> {
  const reached = new Set<Placed>()
  const open = [...next.get(from)!]
  for (let node = open.pop(); node; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    open.push(...next.get(node)!)
  }
  return reached
}

function missingWires({ placed, into }: Layout): GraphProblem[] {
  return placed.flatMap((known) => {
    if (!known) return []
    const missing = [...known.look.inputs].filter(([port, { required }]) => required && !into[known.ordinal]!.has(port))
    return missing.map(([port]) =>
      problem(
        'wiring_missing',
        { node: known.id, port },
        `The input ${port} of node ${known.id} is not wired.`,
        `Draw an edge to ${known.id}.${port}.`,
      ),
    )
  })
}

function lostValues({ placed, wires }: Layout): GraphProblem[] {
  return placed.flatMap((known) => {
    const lost = (known?.look.mustLead ?? []).filter(
      (port) => !wires.some((wire) => wire.from === known && wire.port === port),
    )
    return lost.map((port) =>
      problem(
        'wiring_missing',
        { node: known!.id, port },
        `The output ${port} of node ${known!.id} leads nowhere, so what the model calls would be lost.`,
        `Draw an edge from ${known!.id}.${port}, or take tools out of the params of the node.`,
      ),
    )
  })
}

function takenPorts(layout: Layout): GraphProblem[] {
  const exclusive = exclusivity(layout)
  const problems: GraphProblem[] = []
  for (const node of layout.placed) {
    if (!node) continue
    for (const [port, wires] of layout.into[node.ordinal]!) {
      if (node.kind.collects?.includes(port)) continue
      const pair = firstPair(wires, (a, b) => !exclusive(a, b))
      if (!pair) continue
      const [a, b] = pair.map(({ from, port }) => `${from.id}.${port}`)
      problems.push(
        problem(
          'port_taken',
          { node: node.id, port },
          `The input ${port} of node ${node.id} takes one value, and both ${a} and ${b} may come.`,
          'Lead one edge to it, or edges that come from the two sides of one branch.',
        ),
      )
    }
  }
  return problems
}

function firstPair(wires: Wire[], holds: (a: Wire, b: Wire) => boolean): [Wire, Wire] | null {
  for (const [at, a] of wires.entries()) for (const b of wires.slice(at + 1)) if (holds(a, b)) return [a, b]
  return null
}

function typeProblems(layout: Layout): GraphProblem[] {
  const typing = typingOf(layout)
  const problems = typing.problems.map(({ node, problem: { code, port, message, resolution } }) =>
    problem(code, { node: node.id, port: port ?? null }, message, resolution),
  )
  for (const wire of layout.wires) {
    const { type: wanted } = wire.to.look.inputs.get(wire.toPort)!
    if (wanted === 'any') continue
    const given = [...typing.typesOf(wire)]
    // Only the value of an expression has an unknown type, and it may turn out to be any of these at run time.
    const isMedia = wanted === 'image' || wanted === 'audio'
    const fits = given.every((type) => type === wanted || (type === 'unknown' && !isMedia))
    if (!fits) problems.push(mismatch(wire, given, wanted))
  }
  return [...problems, ...undecidedTypes(layout)]
}

function mismatch({ from, port, to, toPort }: Wire, given: PortType[], wanted: PortType): GraphProblem {
  return problem(
    'type_mismatch',
    { node: to.id, port: toPort },
    `The edge from ${from.id}.${port} to ${to.id}.${toPort} joins ${given.join(' or ')} with ${wanted}.`,
    'Join ports of equal types; a template makes a string of any value.',
  )
}

/** An expression whose type is known only at run time can't have two types. */
function undecidedTypes(layout: Layout): GraphProblem[] {
  return layout.placed.flatMap((node) => {
    if (node?.kind.kind !== 'expression') return []
    const wanted = [...wantedTypes(layout, node, 'value')]
    if (wanted.length < 2 || typingOf(layout).typeOf({ from: node, port: 'value', to: node, toPort: '' }) !== 'unknown')
      return []
    return problem(
      'type_mismatch',
      { node: node.id, port: 'value' },
      `The value of node ${node.id} is wanted as ${wanted.join(' and as ')}.`,
      'Make it one with string(), double() or bool(), or write its type.',
    )
  })
}

function optionalToRequired({ wires }: Layout, optionalFields: ReadonlySet<string>): GraphProblem[] {
  return wires
    .filter(
      ({ from, port, to, toPort }) =>
        from.kind.kind === 'input' &&
        optionalFields.has(port) &&
        to.kind.calls !== null &&
        to.look.inputs.get(toPort)!.required,
    )
    .map(({ port, to, toPort }) =>
      problem(
        'optional_to_required',
        { node: to.id, port: toPort },
        `The input ${toPort} of node ${to.id} needs a value, and the field ${port} may be left out.`,
        'Make the field required, or lead it through a template, or through the side of a branch on which it is not null.',
      ),
    )
}

/** Returns the problems of edges in isolation: their syntax, and whether their nodes and ports exist. */
export function edgeProblems(graph: Graph, { placed }: Layout): GraphProblem[] {
  const byId = idsOf(placed)
  const unknownKinds = new Set(graph.nodes.filter((_, ordinal) => placed[ordinal] === null).map(({ id }) => id))
  const seen = new Set<string>()
  return graph.edges.flatMap((edge) => {
    const written = `from ${edge.from.slice(0, 140)} to ${edge.to.slice(0, 140)}`
    const said = `${edge.from} ${edge.to}`
    if (seen.has(said))
      return problem('edge_duplicate', {}, `The edge ${written} is there twice.`, 'Leave the second one out.')
    seen.add(said)
    return (['from', 'to'] as const).flatMap((side) => endProblem(edge, side, written, byId, unknownKinds) ?? [])
  })
}

function endProblem(
  edge: GraphEdge,
  side: 'from' | 'to',
  written: string,
  byId: Map<string, Placed>,
  unknownKinds: Set<string>,
): GraphProblem | null {
  const { node, port } = endOf(edge[side])
  if (node === '' || port === '')
    return problem(
      'edge_invalid',
      {},
      `The edge ${written} does not say which port.`,
      'Write both ends as node.port, and those of a branch as node.true.port or node.false.port.',
    )
  const at = { node: node.slice(0, 64), port: port.slice(0, 128) }
  const known = byId.get(node)
  if (!known) {
    // The unknown kind is already reported.
    if (unknownKinds.has(node)) return null
    return problem(
      'node_unknown',
      at,
      `The edge ${written} names a node that does not exist.`,
      'Name a node of the flow.',
    )
  }
  const ports = side === 'from' ? known.look.outputs : [...known.look.inputs.keys()]
  // The ports of an unreadable node are unknown; its problems are already reported.
  if (ports.includes(port) || (known.look.problems.length > 0 && ports.length === 0)) return null
  const what = side === 'from' ? 'output' : 'input'
  return problem(
    'port_unknown',
    at,
    `The node ${at.node} has no ${what} port ${at.port}, which the edge ${written} names.`,
    ports.length > 0 ? `Use one of ${firstOf(ports)}.` : `This node has no ${what} ports.`,
  )
}

/** Joins no more names than it prints: each wrong edge of a graph keeps its own text. */
function firstOf(ports: readonly string[]): string {
  const most = 20
  const names = ports.slice(0, most).join(', ').slice(0, 1_500)
  return ports.length > most ? `${names} and ${ports.length - most} more` : names
}

/**
 * Returns whether no execution can give both wires a value, because a branch sends its true side to one and its false
 * side to the other. A pair found exclusive is exclusive in every execution; pairs exclusive for other reasons are not
 * found.
 */
export function exclusivity({ order, into }: Layout): (a: Wire, b: Wire) => boolean {
  const ofNode = new Map<Placed, Sides>()
  const ofWire = ({ from, port }: Wire): Sides => {
    const sides = ofNode.get(from) ?? new Set()
    if (from.kind.kind !== 'branch') return sides
    return new Set([...sides, `${from.ordinal} ${port.slice(0, port.indexOf('.'))}`])
  }
  for (const node of order) {
    const sides: Sides = new Set()
    for (const [port, wires] of into[node.ordinal]!)
      if (node.look.inputs.get(port)!.required) for (const side of common(wires.map(ofWire))) sides.add(side)
    ofNode.set(node, sides)
  }
  return (a, b) => {
    const sides = ofWire(b)
    return [...ofWire(a)].some((side) => sides.has(opposite(side)))
  }
}

/** Branch sides that must have been taken for a value to exist: ordinal of the branch and `true` or `false`. */
type Sides = Set<string>

function opposite(side: string): string {
  return side.endsWith(' true') ? side.replace(' true', ' false') : side.replace(' false', ' true')
}

/** Returns the sides that were taken in all cases. */
function common(all: Sides[]): Sides {
  const [first, ...others] = all
  return new Set([...(first ?? [])].filter((side) => others.every((sides) => sides.has(side))))
}
