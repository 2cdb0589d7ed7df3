import { useState } from 'react'
import { addables, matching, type Addable } from '../core/addable.ts'
import type { PortRef } from '../core/connection.ts'
import { Dialog } from '../../components/dialog.tsx'
import { useSession } from '../session.ts'
import { AddableRow } from './addable-row.tsx'

/** Searches for a node kind or product to add. Enter adds the first match. */
export function AddDialog({
  from,
  onAdd,
  onClose,
}: {
  from: PortRef | null
  onAdd: (addable: Addable) => void
  onClose: () => void
}) {
  const { model, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const found = matching(addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind))), typed)
  return (
    <Dialog title={from ? `Add a node after ${from.key}.${from.port}` : 'Add a node'} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (found[0]) onAdd(found[0])
        }}
      >
        <input
          type="search"
          aria-label="Find a kind or a product"
          placeholder="Find a kind or a product"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
        />
      </form>
      <ul className="flow-choices">
        {found.map((addable) => (
          <AddableRow key={addable.id} addable={addable} onAdd={onAdd} />
        ))}
      </ul>
      {found.length === 0 && <p className="soft">No results.</p>}
    </Dialog>
  )
}
