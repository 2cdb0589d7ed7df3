import { Handle, Position, type Node, type NodeProps } from '@xyflow/react'
import type { GraphNode } from '@gateway/api/graph'
import { kindTitle } from '../core/kind-labels.ts'
import { nodeSummary } from '../core/node-summary.ts'
import type { Change } from '../core/overlay.ts'
import { KindIcon } from '../canvas/kind-icon.tsx'
import { changeLabels } from './change-labels.ts'

export type ComparedNode = Node<{ node: GraphNode; change: Change }, 'compared'>

/** Node from the later graph, or from the earlier one if it was removed, with its change. */
export function ComparedCard({ data: { node, change } }: NodeProps<ComparedNode>) {
  const summary = nodeSummary(node)
  return (
    <div className={`node change-${change}`} data-kind={node.kind}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="node-head">
        <KindIcon kind={node.kind} />
        <span className="node-title">
          <strong>{node.id}</strong>
          <small>{kindTitle(node.kind).title}</small>
        </span>
        {change !== 'same' && <span className="change-mark">{changeLabels[change]}</span>}
      </div>
      {summary !== '' && <p className="node-summary">{summary}</p>}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}
