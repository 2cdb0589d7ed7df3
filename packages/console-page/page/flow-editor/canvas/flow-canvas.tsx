import { useMemo, useRef, useState, type ReactNode } from 'react'
import {
  Background,
  Controls,
  MiniMap,
  Panel,
  ReactFlow,
  useReactFlow,
  type FinalConnectionState,
  type IsValidConnection,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { connectionFault, drawEdge, type PortRef } from '../core/connection.ts'
import { insertNode } from '../core/insert-node.ts'
import { moveNodes } from '../core/node-commands.ts'
import { NODE_WIDTH } from '../core/position.ts'
import type { Addable } from '../core/addable.ts'
import { SearchDialog } from '../lazy.ts'
import { useSelection, useSession } from '../session.ts'
import { AddDialog } from './add-dialog.tsx'
import { TasksProvider, type CanvasTask } from './canvas-tasks.ts'
import { canvasLabels } from './canvas-labels.ts'
import { EdgeValue } from './edge-value.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { ConnectionHint } from './connection-hint.tsx'
import { flowEdges, flowNodes } from './drawn-items.ts'
import { NodeCard } from './node-card.tsx'
import { useCanvasKeys } from './use-canvas-keys.ts'
import { useClipboard } from './use-clipboard.ts'
import { useFlowChanges } from './use-flow-changes.ts'
import { useLitEdge } from './use-lit-edge.ts'
import { useOpeningView } from './use-opening-view.ts'

const nodeTypes = { node: NodeCard }
/** The padding keeps the canvas still while an edge is dragged from the outermost port. */
const fitting = { padding: 0.25, maxZoom: 1 }

/** The canvas. Every action works with the mouse and with the keyboard alone. */
export function FlowCanvas({ openForm, children }: { openForm: () => void; children?: ReactNode }) {
  const { editor, model, products } = useSession()
  const { selectedNodes, selectedEdges } = useSelection()
  const { dragged, sizes, onNodesChange, onEdgesChange } = useFlowChanges()
  const [task, setTask] = useState<CanvasTask | null>(null)
  const { lit, listening } = useLitEdge()
  const flow = useReactFlow()
  const element = useRef<HTMLDivElement>(null)
  useOpeningView(element)
  const nodes = useMemo(
    () => flowNodes(model, { selected: selectedNodes, dragged, sizes }),
    [model, selectedNodes, dragged, sizes],
  )
  const edges = useMemo(() => flowEdges(model, selectedEdges), [model, selectedEdges])

  const center = () => {
    const { left, top, width, height } = element.current!.getBoundingClientRect()
    return flow.screenToFlowPosition({ x: left + width / 2 - NODE_WIDTH / 2, y: top + height / 2 - 60 })
  }
  const show = (key: string) => {
    editor.select([key])
    void flow.fitView({ nodes: [{ id: key }], maxZoom: 1, padding: 0.4 })
    focusNode(element.current, key)
  }
  const add = (addable: Addable, { position, from }: { position: { x: number; y: number }; from: PortRef | null }) => {
    let id = ''
    editor.change((graph) => {
      const inserted = insertNode(graph, products, addable, position, from)
      id = inserted.id
      return inserted.graph
    })
    editor.select([id])
    setTask(null)
    focusNode(element.current, id)
  }
  const tidyUp = async () => {
    const { arranged } = await import('../core/auto-layout.ts')
    const positions = arranged(model, sizes)
    editor.change((graph) => moveNodes(graph, positions))
    requestAnimationFrame(() => void flow.fitView(fitting))
  }
  const { duplicate } = useClipboard()
  useCanvasKeys({
    add: () => setTask({ task: 'add', position: center(), from: null }),
    search: () => setTask({ task: 'search' }),
    openForm,
    duplicate,
  })
  const isValid: IsValidConnection = ({ source, sourceHandle, target, targetHandle }) =>
    connectionFault(model.graph, products, { from: `${source}.${sourceHandle}`, to: `${target}.${targetHandle}` }) ===
    null
  const onConnectEnd = (event: MouseEvent | TouchEvent, { fromHandle, toHandle }: FinalConnectionState) => {
    if (!fromHandle || toHandle) return
    const { clientX, clientY } = 'changedTouches' in event ? event.changedTouches[0]! : event
    const from: PortRef = {
      key: fromHandle.nodeId,
      port: fromHandle.id ?? '',
      side: fromHandle.type === 'source' ? 'output' : 'input',
    }
    const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY })
    setTask({
      task: 'add',
      from,
      position: from.side === 'output' ? { x, y: y - 60 } : { x: x - NODE_WIDTH, y: y - 60 },
    })
  }

  return (
    <TasksProvider value={setTask}>
      <div className="flow-canvas" ref={element} {...listening}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          onConnect={({ source, sourceHandle, target, targetHandle }) =>
            editor.change((graph) =>
              drawEdge(graph, products, { from: `${source}.${sourceHandle}`, to: `${target}.${targetHandle}` }),
            )
          }
          onConnectEnd={onConnectEnd}
          isValidConnection={isValid}
          onNodeDoubleClick={openForm}
          ariaLabelConfig={canvasLabels}
          deleteKeyCode={null}
          connectionRadius={28}
          minZoom={0.15}
          maxZoom={2}
          fitViewOptions={fitting}
          proOptions={{ hideAttribution: false }}
        >
          <Background gap={20} size={1.5} />
          <Controls showInteractive={false} />
          <MiniMap pannable zoomable />
          <Panel position="top-center">
            <ConnectionHint />
          </Panel>
          <Panel position="bottom-center">
            <EdgeValue lit={lit} />
          </Panel>
          <Panel position="top-right" className="canvas-actions">
            <button
              type="button"
              className="button small"
              onClick={() => setTask({ task: 'add', position: center(), from: null })}
            >
              Add a node <kbd>/</kbd>
            </button>
            <button type="button" className="button small" onClick={() => void tidyUp()}>
              Auto-layout
            </button>
          </Panel>
        </ReactFlow>
        {children}
      </div>
      {task?.task === 'add' && (
        <AddDialog from={task.from} onAdd={(addable) => add(addable, task)} onClose={() => setTask(null)} />
      )}
      {task?.task === 'connect' && <ConnectDialog from={task.from} onClose={() => setTask(null)} />}
      {task?.task === 'search' && (
        <SearchDialog
          onFound={(key) => {
            setTask(null)
            show(key)
          }}
          onClose={() => setTask(null)}
        />
      )}
    </TasksProvider>
  )
}

/** Focuses a node after it has rendered and the search dialog has returned the focus. */
function focusNode(canvas: HTMLElement | null, key: string): void {
  setTimeout(() => canvas?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(key)}"]`)?.focus())
}
