import { useConnection } from '@xyflow/react'
import { connectionFault } from '../core/connection.ts'
import { useSession } from '../session.ts'
import { drawnEdge } from './drawn-edge.ts'

/** Explains why the edge being dragged cannot connect to the port under the pointer. */
export function ConnectionHint() {
  const { model, products } = useSession()
  const edge = useConnection(({ fromHandle, toHandle }) =>
    fromHandle && toHandle ? drawnEdge(fromHandle, toHandle) : null,
  )
  const reason = edge && connectionFault(model.graph, products, edge)
  if (!reason) return null
  return (
    <p className="connection-hint" role="status">
      {reason}
    </p>
  )
}
