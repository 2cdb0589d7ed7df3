import { useMemo, useRef, useState, type ReactNode, type SyntheticEvent } from 'react'
import {
  Background,
  Controls,
  MiniMap,
  Panel,
  ReactFlow,
  useReactFlow,
  type FinalConnectionState,
  type IsValidConnection,
  useConnection,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { connectionFault, drawEdge, type PortRef, targetsOf, type Target, insertNode } from '../core/connection.ts'
import { moveNodes } from '../core/node-commands.ts'
import { NODE_WIDTH } from '../core/position.ts'
import { SearchDialog, EdgeRecordView } from '../lazy.ts'
import { useSelection, useSession } from '../state/open-editor.ts'
import { TasksProvider, type CanvasTask } from './canvas-tasks.ts'
import { canvasLabels } from './kind-icon.tsx'
import { flowEdges, flowNodes, useFlowChanges, useOpeningView } from './drawn-flow.ts'
import { NodeCard } from './node-card.tsx'
import { useCanvasKeys, useClipboard } from './use-canvas-keys.ts'
import type { GraphEdge } from '@gateway/api/graph'
import { Dialog } from '../../components/dialog.tsx'
import { announce } from '../../frame/announcer.ts'
import { addables, matching, type Addable, AddableRow } from './addable-row.tsx'

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

/** Key of the hovered or focused edge, and the event handlers for the element around the canvas. */
function useLitEdge() {
  const [lit, setLit] = useState<string | null>(null)
  const look = ({ target }: SyntheticEvent) => {
    const edge = target instanceof Element ? target.closest('.react-flow__edge') : null
    setLit(edge?.getAttribute('data-id') ?? null)
  }
  return { lit, listening: { onPointerOver: look, onFocus: look, onPointerLeave: () => setLit(null) } }
}

/** Value of the hovered or focused edge. The inspector shows the full value of a selected edge. */
function EdgeValue({ lit }: { lit: string | null }) {
  const edge = useSession().model.edges.find(({ key }) => key === lit)?.edge
  return (
    <div className="edge-value" aria-live="polite">
      {edge && <EdgeRecordView key={lit} edge={edge} isGlance />}
    </div>
  )
}

/** Explains why the edge being dragged cannot connect to the port under the pointer. */
function ConnectionHint() {
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

interface End {
  nodeId: string
  id?: string | null
  type: 'source' | 'target'
}

/** Edge between two handles, dragged in either direction; null between two inputs or two outputs. */
function drawnEdge(a: End, b: End): GraphEdge | null {
  if (a.type === b.type) return null
  const [from, to] = a.type === 'source' ? [a, b] : [b, a]
  return { from: `${from.nodeId}.${from.id ?? ''}`, to: `${to.nodeId}.${to.id ?? ''}` }
}

/** Ports that a port can connect to, and why it cannot connect to the others. Draws an edge from the keyboard. */
function ConnectDialog({ from, onClose }: { from: PortRef; onClose: () => void }) {
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

/** Searches for a node kind or product to add. Enter adds the first match. */
function AddDialog({
  from,
  onAdd,
  onClose,
}: {
  from: PortRef | null
  onAdd: (addable: Addable) => void
  onClose: () => void
}) {
  const { model, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const found = matching(addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind))), typed)
  return (
    <Dialog title={from ? `Add a node after ${from.key}.${from.port}` : 'Add a node'} onClose={onClose}>
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
