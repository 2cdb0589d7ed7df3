import { nodeKinds } from '@gateway/flow/node-kinds'
import type { ProductRecord } from '@gateway/api/console/products'
import { kindTitle } from './kind-labels.ts'
import { priceLabels } from './price-labels.ts'

/** What can be put on the canvas. */
export interface Addable {
  /** Of the list alone. */
  id: string
  title: string
  hint: string
  kind: string
  fields: Readonly<Record<string, unknown>>
}

/** The kinds of nodes, each as often as it makes sense, and after them the products that the project can call. */
export function addables(products: readonly ProductRecord[], present: ReadonlySet<string>): Addable[] {
  const free = nodeKinds
    .filter(({ calls, kind }) => calls === null && !(['input', 'output'].includes(kind) && present.has(kind)))
    .map(({ kind }) => ({ id: kind, kind, fields: {}, ...kindTitle(kind) }))
  const paid = products.flatMap((product) =>
    nodeKinds
      .filter(({ calls }) => calls === product.kind)
      .map(({ kind }) => ({
        id: `${kind} ${product.id}`,
        kind,
        title: product.id,
        hint: priceLabels(product.pricing),
        fields: { product: product.id },
      })),
  )
  return [...free, ...paid]
}

/** Those that have every word of what was typed, in any order. */
export function matching(all: readonly Addable[], typed: string): Addable[] {
  const words = typed.toLowerCase().split(/\s+/)
  return all.filter(({ title, hint, kind }) => {
    const text = `${title} ${hint} ${kind}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
