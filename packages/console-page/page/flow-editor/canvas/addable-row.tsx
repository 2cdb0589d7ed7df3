import { KindIcon } from './kind-icon.tsx'
import { nodeKinds } from '@gateway/flow/node-kinds'
import type { ProductRecord } from '@gateway/api/console/products'
import { kindTitle } from '../core/kind-labels.ts'
import { priceLabels } from '../../catalogue/product-labels.tsx'

/** Type of the dragged data: the `id` of an addable. */
export const DRAGGED = 'application/x-gateway-addable'

export function AddableRow({
  addable,
  onAdd,
  isDraggable = false,
}: {
  addable: Addable
  onAdd: (addable: Addable) => void
  isDraggable?: boolean
}) {
  return (
    <li>
      <button
        type="button"
        className="flow-choice"
        draggable={isDraggable}
        onDragStart={({ dataTransfer }) => {
          dataTransfer.setData(DRAGGED, addable.id)
          dataTransfer.effectAllowed = 'copy'
        }}
        onClick={() => onAdd(addable)}
      >
        <KindIcon kind={addable.kind} />
        <span>
          {addable.title} <small className="soft">{addable.hint}</small>
        </span>
      </button>
    </li>
  )
}

/** Node kind or product that can be added to the canvas. */
export interface Addable {
  /** Unique in the list only; not a node ID. */
  id: string
  title: string
  hint: string
  kind: string
  fields: Readonly<Record<string, unknown>>
}

/** Node kinds, without an input or output that already exists, then the products that the project can call. */
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

/** Entries that contain every typed word, in any order. */
export function matching(all: readonly Addable[], typed: string): Addable[] {
  const words = typed.toLowerCase().split(/\s+/)
  return all.filter(({ title, hint, kind }) => {
    const text = `${title} ${hint} ${kind}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
