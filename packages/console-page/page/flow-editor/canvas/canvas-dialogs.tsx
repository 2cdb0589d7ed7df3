import { useState } from 'react'
import type { PortType } from '@gateway/flow/node-kinds'
import { Dialog } from '../../components/dialog.tsx'
import { announce } from '../../frame/announcer.ts'
import type { CanvasModel } from '../core/canvas-model.ts'
import { drawEdge, fits, targetsOf, type Joint, type PortRef, type Target } from '../core/connection.ts'
import { edgeKey } from '../core/edges.ts'
import { useSession } from '../state/open-editor.ts'
import { addables, AddableRow, matching, type Addable } from './addable-row.tsx'

/** Ports that a port can connect to, and why it cannot connect to the others. Draws an edge from the keyboard. */
export function ConnectDialog({
  from,
  onAddNode,
  onClose,
}: {
  from: PortRef
  onAddNode: () => void
  onClose: () => void
}) {
  const { editor, model, products } = useSession()
  const targets = targetsOf(model, products, from)
  const join = ({ edge }: Target) => {
    editor.change((graph) => drawEdge(graph, products, edge))
    announce(`Connected ${edge.from} to ${edge.to}.`)
    onClose()
  }
  return (
    <Dialog title={`Connect ${from.key}.${from.port} to …`} onClose={onClose}>
      {targets.length === 0 && <p className="soft">No other node has a matching port yet.</p>}
      <ul className="flow-choices">
        {targets.map((target) => (
          <li key={`${target.key}.${target.port.name}`}>
            <button
              type="button"
              className="flow-choice"
              aria-disabled={target.reason !== null} // not disabled: the reason is read with the focus on it
              onClick={() => target.reason === null && join(target)}
            >
              <span className={`port-mark type-${target.port.type}`} />
              <span>
                {target.key}.{target.port.name} <small className="soft">{target.port.type}</small>
                {target.reason !== null && <small className="reason">{target.reason}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <div className="buttons">
        <button type="button" className="button main" onClick={onAddNode}>
          New node
        </button>
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** Searches for a node kind or product to add, among those that fit the joint. Enter adds the first match. */
export function AddDialog({
  joint,
  onAdd,
  onClose,
}: {
  joint: Joint | null
  onAdd: (addable: Addable) => void
  onClose: () => void
}) {
  const { model, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const isFitting = fittingTo(model, joint)
  const all = addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind))).filter(isFitting)
  const found = matching(all, typed)
  return (
    <Dialog title={titleOf(joint)} onClose={onClose}>
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

function titleOf(joint: Joint | null): string {
  if (joint === null || 'after' in joint) return 'Add a node'
  if ('edge' in joint) return `Insert a node between ${joint.edge.from} and ${joint.edge.to}`
  const { side, key, port } = joint.port
  return `Add a node ${side === 'output' ? 'after' : 'before'} ${key}.${port}`
}

function fittingTo({ nodes, edges }: CanvasModel, joint: Joint | null): (addable: Addable) => boolean {
  if (joint === null || 'after' in joint) return () => true
  if ('port' in joint) {
    const { key, port, side } = joint.port
    const node = nodes.find((each) => each.key === key)
    const found = (side === 'output' ? node?.outputs : node?.inputs)?.find(({ name }) => name === port)
    return (addable) => fits(addable, found?.type ?? 'unknown', side)
  }
  const type: PortType = edges.find(({ key }) => key === edgeKey(joint.edge))?.type ?? 'unknown'
  return (addable) =>
    !['input', 'output'].includes(addable.kind) && fits(addable, type, 'output') && fits(addable, type, 'input')
}
