import type { ValueType } from '@gateway/api/graph'
import type { NodeProblem, PortType } from '../node-kind.ts'
import type { Layout, Placed, Wire } from './layout.ts'

export interface Typing {
  /** Returns the type of the value of a wire. */
  typeOf(wire: Wire): PortType
  /** Returns the types that the value of a wire may have: several if sources of different types meet at a branch. */
  typesOf(wire: Wire): Set<PortType>
  /** Problems of nodes with the types of their inputs. */
  problems: { node: Placed; problem: NodeProblem }[]
}

/** Propagates types along the wires, starting from the fields of the contract. */
export function typingOf({ order, stuck, into }: Layout): Typing {
  const outputs = new Map<Placed, ReadonlyMap<string, PortType>>()
  const typeOf = ({ from, port }: Wire) => outputs.get(from)?.get(port) ?? 'unknown'
  const problems: Typing['problems'] = []
  for (const node of [...order, ...stuck]) {
    const types = new Map<string, PortType>()
    for (const [port, { type }] of node.look.inputs) {
      const arriving = new Set((into[node.ordinal]!.get(port) ?? []).map(typeOf))
      const [only] = arriving
      types.set(port, type !== 'any' ? type : arriving.size === 1 ? only! : 'unknown')
    }
    const typed = node.look.typed(types)
    outputs.set(node, typed.outputs)
    problems.push(...typed.problems.map((problem) => ({ node, problem })))
  }
  function typesOf(wire: Wire): Set<PortType> {
    const wires = new Set([wire])
    const types = new Set<PortType>()
    for (const each of wires) {
      const type = typeOf(each)
      const sources = type === 'unknown' ? branchedSources(each) : []
      for (const source of sources) wires.add(source) // grows while it is read
      if (sources.length === 0) types.add(type)
    }
    return types
  }

  function branchedSources({ from, port }: Wire): Wire[] {
    if (from.kind.kind !== 'branch') return []
    return into[from.ordinal]!.get(port.slice(port.indexOf('.') + 1)) ?? []
  }
  return { typeOf, typesOf, problems }
}

/**
 * Returns the types that the edges of an output port of unknown type require, also through branches, each once.
 */
export function wantedTypes(layout: Layout, node: Placed, port: string): Set<ValueType> {
  const wanted = new Set<ValueType>()
  const seen = new Set<string>()
  function follow(from: Placed, port: string): void {
    if (seen.has(`${from.ordinal} ${port}`)) return
    seen.add(`${from.ordinal} ${port}`)
    for (const wire of layout.wires) {
      if (wire.from !== from || wire.port !== port) continue
      const { type } = wire.to.look.inputs.get(wire.toPort)!
      if (type !== 'any') wanted.add(type)
      else if (wire.to.kind.kind === 'branch')
        for (const side of ['true', 'false']) follow(wire.to, `${side}.${wire.toPort}`)
    }
  }
  follow(node, port)
  return wanted
}
