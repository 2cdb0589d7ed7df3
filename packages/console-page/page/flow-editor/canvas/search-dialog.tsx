import { useState } from 'react'
import { kindTitle, nodeSummary } from '../core/kind-labels.ts'
import { Dialog } from '../../components/dialog.tsx'
import { useSession } from '../state/open-editor.ts'
import { KindIcon } from './kind-icon.tsx'

/** Finds a node by its ID, kind or content. */
export function SearchDialog({ onFound, onClose }: { onFound: (key: string) => void; onClose: () => void }) {
  const { nodes } = useSession().model
  const [typed, setTyped] = useState('')
  const found = nodes.filter(({ node }) => JSON.stringify(node).toLowerCase().includes(typed.toLowerCase()))
  return (
    <Dialog title="Find a node" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (found[0]) onFound(found[0].key)
        }}
      >
        <input
          type="search"
          aria-label="Find a node"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
        />
      </form>
      <ul className="flow-choices">
        {found.map(({ key, node }) => (
          <li key={key}>
            <button type="button" className="flow-choice" onClick={() => onFound(key)}>
              <KindIcon kind={node.kind} />
              <span>
                {node.id} <small className="soft">{nodeSummary(node) || kindTitle(node.kind).title}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
