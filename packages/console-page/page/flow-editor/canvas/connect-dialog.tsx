import { drawEdge, targetsOf, type PortRef, type Target } from '../core/connection.ts'
import { Dialog } from '../../components/dialog.tsx'
import { announce } from '../../frame/announcer.ts'
import { useSession } from '../session.ts'

/** Ports that a port can connect to, and why it cannot connect to the others. Draws an edge from the keyboard. */
export function ConnectDialog({ from, onClose }: { from: PortRef; onClose: () => void }) {
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
              disabled={target.reason !== null}
              onClick={() => join(target)}
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
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
