import { useReactFlow } from '@xyflow/react'
import { useState } from 'react'
import { addables, matching, type Addable } from './core/addable.ts'
import { NODE_WIDTH } from './core/position.ts'
import { insertNode } from './core/insert-node.ts'
import { AddableRow } from './canvas/addable-row.tsx'
import { useSession } from './session.ts'

/** Offset of each added node, in canvas pixels, so that nodes do not cover each other. */
const STEP = 28

/** Nodes that can be added: node kinds, and the products of the project with their prices. */
export function Palette() {
  const { editor, model, products, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const flow = useReactFlow()
  const all = addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind)))
  const found = matching(all, typed)
  const add = (addable: Addable) => {
    const canvas = document.querySelector('.flow-canvas')?.getBoundingClientRect()
    const middle = { x: (canvas?.x ?? 0) + (canvas?.width ?? 0) / 2, y: (canvas?.y ?? 0) + (canvas?.height ?? 0) / 3 }
    const { x, y } = flow.screenToFlowPosition(middle)
    const aside = (editor.store.getState().graph.nodes.length % 8) * STEP
    let id = ''
    editor.change((graph) => {
      const inserted = insertNode(graph, products, addable, { x: x - NODE_WIDTH / 2 + aside, y: y + aside })
      id = inserted.id
      return inserted.graph
    })
    editor.select([id])
  }
  return (
    <nav className="flow-palette" aria-label="Node palette">
      <input
        type="search"
        aria-label="Filter nodes"
        placeholder="Filter"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <ul className="flow-choices">
        {found.map((addable) => (
          <AddableRow key={addable.id} addable={addable} onAdd={add} />
        ))}
      </ul>
      {catalogue.length === 0 && <p className="soft small">No product is assigned to this project.</p>}
    </nav>
  )
}
