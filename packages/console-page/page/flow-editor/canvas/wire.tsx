import { memo } from 'react'
import { BaseEdge, getBezierPath, type EdgeProps } from '@xyflow/react'
import type { GraphEdge } from '@gateway/api/graph'
import { useOpenTask } from './canvas-tasks.ts'
import type { FlowEdge } from './drawn-flow.ts'

/**
 * Edge with a "+" in its middle, which appears on hover and inserts a node. It's for the pointer only: the context menu
 * of the edge does the same from the keyboard.
 */
export const Wire = memo(function Wire({ id, data, label: _, ...ends }: EdgeProps<FlowEdge>) {
  const [path, x, y] = getBezierPath(ends)
  return (
    <>
      <BaseEdge id={id} path={path} interactionWidth={20} />
      {data && <InsertMark edge={data.edge} x={x} y={y} />}
    </>
  )
})

function InsertMark({ edge, x, y }: { edge: GraphEdge; x: number; y: number }) {
  const openTask = useOpenTask()
  return (
    <g
      className="edge-insert"
      transform={`translate(${x} ${y})`}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation()
        openTask({ task: 'add', position: null, joint: { edge } })
      }}
    >
      <circle r="10" />
      <path d="M-4 0H4M0-4V4" />
    </g>
  )
}
