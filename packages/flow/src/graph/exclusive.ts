import type { Layout, Placed, Wire } from './layout.ts'

/**
 * Whether no execution can give both wires a value: then a branch sends its true side to one of them and its false side to the other.
 * What is found exclusive is so in every execution; a pair that is so for another reason is not found.
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

/** Sides that branches must have taken where there is a value: a branch's ordinal and `true` or `false`. */
type Sides = Set<string>

function opposite(side: string): string {
  return side.endsWith(' true') ? side.replace(' true', ' false') : side.replace(' false', ' true')
}

/** Whichever of them came, these were taken. */
function common(all: Sides[]): Sides {
  const [first, ...others] = all
  return new Set([...(first ?? [])].filter((side) => others.every((sides) => sides.has(side))))
}
