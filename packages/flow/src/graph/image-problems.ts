import type { GraphProblem } from '@gateway/contracts/graph'
import { chatLimits } from '@gateway/contracts/limits'
import { productOf } from '../node-kinds.ts'
import type { ProductFacts } from '../node-kind.ts'
import { problem } from '../problem.ts'
import type { Layout, Placed, Wire } from './layout.ts'

// Whether what image products make fits into the chats that it is led to, so that no execution draws an image, is charged for it,
// and then fails because of it. How large the images are that a caller sends shows only when they are sent.

type Products = ReadonlyMap<string, ProductFacts>

/** An image product's node, and how large its images may be. */
interface Maker {
  node: Placed
  bytes: number
}

export function imageProblems(layout: Layout, products: Products): GraphProblem[] {
  return layout.placed.flatMap((chat) => {
    if (chat?.kind.kind !== 'product.chat') return []
    const facts = factsOf(chat, products)
    if (!facts?.imageInput || facts.takesImages === false) return []
    const images = imagesAtOnce(layout.into[chat.ordinal]!.get('image') ?? [])
    const made = images.map((wires) => makersOf(layout, products, wires)).filter((makers) => makers.length > 0)
    const told = [
      ...tooMany(chat, images.length, facts.imageInput.maxCount),
      ...tooLarge(chat, made.flat(), facts.imageInput.maxBytes),
      tooLargeTogether(chat, made),
      tooLong(chat, made.length, facts),
    ]
    return told.filter((each) => each !== null)
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
  if (together <= chatLimits.imageBytes) return null
  return problem(
    'image_too_large',
    portOf(chat),
    `The images that are led to node ${chat.id} may have ${together} bytes together, and a chat takes ${chatLimits.imageBytes} at most.`,
    'Lead fewer images to the node, or call image products that make smaller ones.',
  )
}

/** What the images alone take of the model's context, and what is asked of it as output: the bound of money §2. */
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

/** The wires of a port by what may come at once: of the two sides of a branch only one has a value. */
function imagesAtOnce(wires: readonly Wire[]): Wire[][] {
  const groups = Map.groupBy(wires, ({ from, port }) =>
    from.kind.kind === 'branch' ? `${from.ordinal} ${port.slice(port.indexOf('.') + 1)}` : `${from.ordinal}.${port}`,
  )
  return [...groups.values()]
}

/** The nodes that may make the one image which comes by these wires, through whatever branches, and how large it may be. */
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
