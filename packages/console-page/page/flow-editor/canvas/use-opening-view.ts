import { useEffect, useRef, type RefObject } from 'react'
import { useNodesInitialized, useReactFlow } from '@xyflow/react'
import { openingView } from '../core/opening-view.ts'
import type { FlowNode } from './drawn-items.ts'

/** Shows the flow readable once its nodes are measured for the first time. */
export function useOpeningView(element: RefObject<HTMLElement | null>): void {
  const flow = useReactFlow<FlowNode>()
  const isMeasured = useNodesInitialized()
  const isShown = useRef(false)
  useEffect(() => {
    const nodes = flow.getNodes()
    if (!isMeasured || isShown.current || nodes.length === 0) return
    isShown.current = true
    const { width, height } = element.current!.getBoundingClientRect()
    const first = nodes.find(({ data }) => data.drawn.node.kind === 'input') ?? nodes[0]!
    void flow.setViewport(openingView({ width, height }, flow.getNodesBounds(nodes), flow.getNodesBounds([first])))
  }, [flow, isMeasured, element])
}
