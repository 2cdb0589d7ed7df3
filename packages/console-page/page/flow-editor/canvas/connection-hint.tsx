import { useConnection } from '@xyflow/react'
import { connectionFault } from '../core/connection.ts'
import { useSession } from '../session.ts'
import { drawnEdge } from './drawn-edge.ts'

/** While an edge is dragged over a port that it may not be led to: why not. */
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
