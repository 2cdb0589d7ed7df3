import { useMemo } from 'react'
import { Background, Controls, ReactFlow, ReactFlowProvider } from '@xyflow/react'
import { endOf } from '@gateway/flow/layout'
import { canvasLabels } from '../canvas/canvas-labels.ts'
import { canvasModel } from '../core/canvas-model.ts'
import { edgeKey } from '../core/edges.ts'
import { placed } from '../core/first-positions.ts'
import type { Overlay } from '../core/overlay.ts'
import { positionOf } from '../core/position.ts'
import { useSession } from '../session.ts'
import { changeLabels } from './change-labels.ts'
import { ComparedCard, type ComparedNode } from './compared-card.tsx'

const nodeTypes = { compared: ComparedCard }

/** Read-only canvas with both graphs overlaid. */
export function OverlayCanvas({ overlay }: { overlay: Overlay }) {
  const { products } = useSession()
  const { nodes, edges } = useMemo(() => {
    const graph = placed(canvasModel(overlay.graph, products))
    const nodes = graph.nodes.map((node): ComparedNode => {
      const change = overlay.nodes.get(node.id) ?? 'same'
      return {
        id: node.id,
        type: 'compared',
        position: positionOf(node) ?? { x: 0, y: 0 },
        data: { node, change },
        ariaLabel: `${node.id} ${changeLabels[change]}`,
      }
    })
    const edges = graph.edges.map((edge) => {
      const change = overlay.edges.get(edgeKey(edge)) ?? 'same'
      return {
        id: edgeKey(edge),
        source: endOf(edge.from).node,
        target: endOf(edge.to).node,
        className: `change-${change}`,
        label: changeLabels[change],
        ariaLabel: `From ${edge.from} to ${edge.to} ${changeLabels[change]}`,
      }
    })
    return { nodes, edges }
  }, [overlay, products])
  return (
    <div className="compare-canvas">
      <ReactFlowProvider>
        <ReactFlow
          defaultNodes={nodes}
          defaultEdges={edges}
          nodeTypes={nodeTypes}
          nodesDraggable={false}
          nodesConnectable={false}
          deleteKeyCode={null}
          ariaLabelConfig={canvasLabels}
          minZoom={0.15}
          fitView
          fitViewOptions={{ padding: 0.2, maxZoom: 1 }}
        >
          <Background gap={20} size={1.5} />
          <Controls showInteractive={false} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  )
}
