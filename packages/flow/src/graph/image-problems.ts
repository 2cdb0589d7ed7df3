import type { GraphProblem } from '@gateway/contracts/graph'
import { chatLimits } from '@gateway/contracts/limits'
import { productOf } from '../node-kinds.ts'
import type { ProductFacts } from '../node-kind.ts'
import { problem } from '../problem.ts'
import type { Layout, Placed, Wire } from './layout.ts'

// Whether what image products make fits into the chats that it is led to, so that no execution draws an image, is charged for it,
// and then fails because of it. How large the images are that a caller sends shows only when they are sent.

type Products = ReadonlyMap<string, ProductFacts>

export function imageProblems(layout: Layout, products: Products): GraphProblem[] {
  return layout.placed.flatMap((node) => {
    if (node?.kind.kind !== 'product.chat') return []
    const facts = factsOf(node, products)
    if (!facts?.imageInput || facts.takesImages === false) return []
    return chatProblems(layout, products, node, facts.imageInput)
  })
}

function chatProblems(
  layout: Layout,
  products: Products,
  chat: Placed,
  { maxBytes, maxCount }: NonNullable<ProductFacts['imageInput']>,
): GraphProblem[] {
  const at = { node: chat.id, port: 'image' }
  const images = imagesAtOnce(layout.into[chat.ordinal]!.get('image') ?? [])
  const problems: GraphProblem[] = []
  if (images.length > maxCount)
    problems.push(
      problem(
        'port_unsupported',
        at,
        `The product of node ${chat.id} takes at most ${maxCount} images, and ${images.length} are led to it.`,
        'Lead fewer images to the node, or call a product that takes more.',
      ),
    )
  const largest = images.map((wires) => largestOf(layout, products, wires))
  for (const { node, bytes } of new Map(largest.flat().map((each) => [each.node, each])).values())
    if (bytes > maxBytes)
      problems.push(
        problem(
          'image_too_large',
          at,
          `The node ${node.id} makes images of up to ${bytes} bytes, and the product of node ${chat.id} takes ${maxBytes} at most.`,
          'Call an image product that makes smaller images, or a chat product that takes larger ones.',
        ),
      )
  const together = largest.reduce((sum, makers) => sum + Math.max(0, ...makers.map(({ bytes }) => bytes)), 0)
  if (together > chatLimits.imageBytes)
    problems.push(
      problem(
        'image_too_large',
        at,
        `The images that are led to node ${chat.id} may have ${together} bytes together, and a chat takes ${chatLimits.imageBytes} at most.`,
        'Lead fewer images to the node, or call image products that make smaller ones.',
      ),
    )
  return problems
}

/** The wires of a port by what may come at once: of the two sides of a branch only one has a value. */
function imagesAtOnce(wires: readonly Wire[]): Wire[][] {
  const groups = Map.groupBy(wires, ({ from, port }) =>
    from.kind.kind === 'branch' ? `${from.ordinal} ${port.slice(port.indexOf('.') + 1)}` : `${from.ordinal}.${port}`,
  )
  return [...groups.values()]
}

/** The nodes that may make the one image which comes by these wires, through whatever branches, and how large it may be. */
function largestOf({ into }: Layout, products: Products, wires: readonly Wire[]): { node: Placed; bytes: number }[] {
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
