import { useState } from 'react'
import { addables, AddableRow, matching } from '../canvas/addable-row.tsx'
import { useAdding } from '../canvas/use-adding.ts'
import { useSession } from '../state/open-editor.ts'

/** Nodes that can be added by a click or by dragging: node kinds, and the products of the project with their prices. */
export function Palette() {
  const { model, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const add = useAdding()
  const found = matching(addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind))), typed)
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
          <AddableRow key={addable.id} addable={addable} onAdd={(chosen) => add(chosen)} isDraggable />
        ))}
      </ul>
      {catalogue.length === 0 && <p className="soft small">No product is assigned to this project.</p>}
    </nav>
  )
}
