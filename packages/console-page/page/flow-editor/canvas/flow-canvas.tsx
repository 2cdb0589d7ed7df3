import {
  useMemo,
  useRef,
  useState,
  type MouseEvent as ReactMouseEvent,
  type ReactNode,
  type SyntheticEvent,
} from 'react'
import {
  Controls,
  MiniMap,
  Panel,
  ReactFlow,
  useReactFlow,
  type FinalConnectionState,
  useConnection,
} from '@xyflow/react'
import { useStore } from 'zustand'
import type { GraphEdge } from '@gateway/api/graph'
import { connectionFault, drawEdge, insertedInto, reconnect, type Joint, type PortRef } from '../core/connection.ts'
import { disconnect, moveNodes } from '../core/node-commands.ts'
import { edgeKey } from '../core/edges.ts'
import { addNote } from '../core/note-commands.ts'
import { NODE_WIDTH, type Position } from '../core/position.ts'
import { CanvasMenu, SearchDialog, EdgeRecordView } from '../lazy.ts'
import { nodeLabels } from '../run/run-outcome.tsx'
import { useRunStore } from '../run/run-store.ts'
import { useSelection, useSession } from '../state/open-editor.ts'
import { addables, DRAGGED, type Addable } from './addable-row.tsx'
import { AddDialog, ConnectDialog } from './canvas-dialogs.tsx'
import type { MenuItem } from './canvas-menu.tsx'
import { TasksProvider, type CanvasTask, type MenuTarget } from './canvas-tasks.ts'
import { canvasLabels } from './kind-icon.tsx'
import {
  flowEdges,
  flowNodes,
  noteIdOf,
  reusingUnchanged,
  useFlowChanges,
  useOpeningView,
  type FlowEdge,
  type FlowNode,
} from './drawn-flow.ts'
import { NodeCard, NoteCard, Wire } from './canvas-parts.tsx'
import { useAdding } from './use-adding.ts'
import { removeSelected, selectAll, useCanvasKeys, useClipboard } from './use-canvas-keys.ts'

const nodeTypes = { node: NodeCard, note: NoteCard }
const edgeTypes = { wire: Wire }
/** The padding keeps the canvas still while an edge is dragged from the outermost port. */
const fitting = { padding: 0.25, maxZoom: 1 }
const severalKeys = ['Shift', 'Control', 'Meta']

/** The canvas. Every action works with the mouse and with the keyboard alone. */
export function FlowCanvas({ openForm, children }: { openForm: () => void; children?: ReactNode }) {
  const { editor, model, products, catalogue } = useSession()
  const [task, setTask] = useState<CanvasTask | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const { lit, listening } = useLitEdge()
  const flow = useReactFlow<FlowNode, FlowEdge>()
  const element = useRef<HTMLDivElement>(null)
  useOpeningView(element)
  const changes = useFlowChanges()
  const { nodes, edges } = useDrawn(changes, task?.task === 'note' ? task.id : null, target)
  const addNode = useAdding()
  const wiring = useWiring(setTask)

  const edgeOf = (key: string | null) => model.edges.find((edge) => edge.key === key)?.edge ?? null
  const selectAt = (on: Element) => menuTarget(on, edgeOf).select?.(editor)
  const { duplicate, copy, paste } = useClipboard(selectAt)
  const add = (addable: Addable, { position, joint }: { position: Position | null; joint: Joint | null }) => {
    const id = addNode(addable, { position, joint })
    setTask(null)
    focusNode(element.current, id)
  }
  const show = (key: string) => {
    editor.select([key])
    void flow.fitView({ nodes: [{ id: key }], maxZoom: 1, padding: 0.4 })
    focusNode(element.current, key)
  }
  const write = (position: Position) => {
    let id = ''
    editor.change((graph) => {
      const added = addNote(graph, position)
      id = added.id
      return added.graph
    })
    editor.select([], [], [id])
    setTask({ task: 'note', id })
  }
  const tidyUp = async () => {
    const { arranged } = await import('../core/auto-layout.ts')
    const positions = arranged(model, changes.sizes)
    editor.change((graph) => moveNodes(graph, positions))
    requestAnimationFrame(() => void flow.fitView(fitting))
  }
  const open = (id: string) => {
    const note = noteIdOf(id)
    if (note !== null) return setTask({ task: 'note', id: note })
    editor.select([id])
    openForm()
  }
  const openMenu = (on: Element, at: Position) => {
    const { target, select } = menuTarget(on, edgeOf)
    select?.(editor)
    const from = on.closest<HTMLElement | SVGElement>('.react-flow__node, .react-flow__edge')
    setTask({ task: 'menu', target, at, from, position: flow.screenToFlowPosition(at) })
  }
  const onContextMenu = (event: ReactMouseEvent) => {
    if (!(event.target instanceof Element) || event.target.closest('textarea, .react-flow__panel')) return
    event.preventDefault()
    openMenu(event.target, { x: event.clientX, y: event.clientY })
  }
  useCanvasKeys({
    add: () => setTask({ task: 'add', position: null, joint: null }),
    search: () => setTask({ task: 'search' }),
    duplicate,
    open,
    selectAt,
    menu: (on) => openMenu(on, middleOf(on === document.body ? element.current! : on)),
  })
  const groupsOf = (target: MenuTarget, position: Position): MenuItem[][] => {
    const adding = {
      label: 'Add node',
      keys: '/',
      opens: true,
      act: () => setTask({ task: 'add', position, joint: null }),
    }
    const pasting = { label: 'Paste', keys: 'Ctrl+V', act: () => void paste(position) }
    const deleting = { label: 'Delete', keys: 'Del', act: () => removeSelected(editor) }
    if (target.on === 'edge')
      return [
        [
          {
            label: 'Insert node here',
            opens: true,
            act: () => setTask({ task: 'add', position: null, joint: { edge: target.edge } }),
          },
        ],
        [deleting],
      ]
    if (target.on === 'selection')
      return [
        [
          { label: 'Duplicate', keys: 'Ctrl+D', act: duplicate },
          { label: 'Copy', keys: 'Ctrl+C', act: () => copy('copy') },
          { label: 'Cut', keys: 'Ctrl+X', act: () => copy('cut') },
          pasting,
        ],
        [deleting],
      ]
    return [
      [adding, { label: 'Add note', opens: true, act: () => write(position) }, pasting],
      [
        { label: 'Auto-layout', act: () => void tidyUp() },
        { label: 'Select all', keys: 'Ctrl+A', act: () => selectAll(editor) },
      ],
    ]
  }
  /** Key of the edge below a node that is dragged alone and isn't connected. */
  const targetOf = (dragged: FlowNode[], { x, y }: Position): string | null => {
    const [only] = dragged
    if (dragged.length !== 1 || only?.type !== 'node') return null
    const { inputs, outputs } = only.data.drawn
    return [...inputs, ...outputs].some(({ isWired }) => isWired) ? null : edgeAt(x, y)
  }
  return (
    <TasksProvider value={setTask}>
      <div
        className="flow-canvas"
        ref={element}
        {...listening}
        onContextMenu={onContextMenu}
        onDragOver={(event) => {
          if (!event.dataTransfer.types.includes(DRAGGED)) return
          event.preventDefault()
          event.dataTransfer.dropEffect = 'copy'
          setTarget(edgeAt(event.clientX, event.clientY))
        }}
        onDragLeave={() => setTarget(null)}
        onDrop={({ dataTransfer, clientX, clientY }) => {
          const id = dataTransfer.getData(DRAGGED)
          const addable = addables(catalogue, new Set()).find((each) => each.id === id)
          const edge = edgeOf(edgeAt(clientX, clientY))
          setTarget(null)
          if (!addable) return
          const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY })
          add(addable, { position: { x: x - NODE_WIDTH / 2, y: y - 24 }, joint: edge && { edge } })
        }}
      >
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodesChange={changes.onNodesChange}
          onEdgesChange={changes.onEdgesChange}
          {...wiring}
          onNodeDrag={(event, _, dragged) => setTarget(targetOf(dragged, pointOf(event)))}
          onNodeDragStop={(event, node, dragged) => {
            const edge = edgeOf(targetOf(dragged, pointOf(event)))
            setTarget(null)
            if (edge)
              editor.change((graph) => insertedInto(graph, products, edge, node.id) ?? graph, changes.dragGroup())
            editor.endGroup()
          }}
          onNodeDoubleClick={(_, { type }) => type === 'node' && openForm()}
          ariaLabelConfig={canvasLabels}
          deleteKeyCode={null}
          multiSelectionKeyCode={severalKeys}
          elevateNodesOnSelect={false}
          connectionRadius={28}
          minZoom={0.15}
          maxZoom={2}
          fitViewOptions={fitting}
          proOptions={{ hideAttribution: false }}
        >
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
              onClick={() => setTask({ task: 'add', position: null, joint: null })}
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
        <AddDialog joint={task.joint} onAdd={(addable) => add(addable, task)} onClose={() => setTask(null)} />
      )}
      {task?.task === 'connect' && (
        <ConnectDialog
          from={task.from}
          onAddNode={() => setTask({ task: 'add', position: null, joint: { port: task.from } })}
          onClose={() => setTask(null)}
        />
      )}
      {task?.task === 'search' && (
        <SearchDialog
          onFound={(key) => {
            setTask(null)
            show(key)
          }}
          onClose={() => setTask(null)}
        />
      )}
      {task?.task === 'menu' && (
        <CanvasMenu
          at={task.at}
          from={task.from}
          groups={groupsOf(task.target, task.position)}
          onClose={() => setTask((now) => (now?.task === 'menu' ? null : now))}
        />
      )}
    </TasksProvider>
  )
}

/** Nodes and edges for the canvas library. An unchanged one stays the same object. */
function useDrawn(
  { dragged, sizes, resized }: ReturnType<typeof useFlowChanges>,
  editing: string | null,
  target: string | null,
) {
  const { model } = useSession()
  const { selectedNodes, selectedEdges, selectedNotes } = useSelection()
  const ran = useStore(useRunStore(), (state) => state.nodes)
  const [reused] = useState(() => ({ nodes: reusingUnchanged<FlowNode>(), edges: reusingUnchanged<FlowEdge>() }))
  const states = useMemo(() => new Map([...ran].map(([id, { status }]) => [id, nodeLabels[status]])), [ran])
  const nodes = useMemo(
    () =>
      reused.nodes(
        flowNodes(model, { selected: selectedNodes, selectedNotes, dragged, sizes, resized, states, editing }),
      ),
    [reused, model, selectedNodes, selectedNotes, dragged, sizes, resized, states, editing],
  )
  const edges = useMemo(
    () => reused.edges(flowEdges(model, selectedEdges, target)),
    [reused, model, selectedEdges, target],
  )
  return { nodes, edges }
}

/** Draws edges, leads their ends to other ports, and removes an edge whose end is dropped on empty ground. */
function useWiring(setTask: (task: CanvasTask) => void) {
  const { editor, model, products } = useSession()
  const flow = useReactFlow()
  const reconnecting = useRef<{ edge: GraphEdge; open: typeof model.graph } | null>(null)
  return {
    onConnect: (drawn: Drawn) => editor.change((graph) => drawEdge(graph, products, edgeFrom(drawn))),
    isValidConnection: (drawn: Drawn) => {
      const edge = edgeFrom(drawn)
      const again = reconnecting.current
      if (again && edgeKey(again.edge) === edgeKey(edge)) return true
      return connectionFault(again?.open ?? model.graph, products, edge) === null
    },
    onConnectEnd: (event: MouseEvent | TouchEvent, { fromHandle, toHandle }: FinalConnectionState) => {
      if (!fromHandle || toHandle || reconnecting.current) return
      const port: PortRef = {
        key: fromHandle.nodeId,
        port: fromHandle.id ?? '',
        side: fromHandle.type === 'source' ? 'output' : 'input',
      }
      const { x, y } = flow.screenToFlowPosition(pointOf(event))
      setTask({
        task: 'add',
        joint: { port },
        position: port.side === 'output' ? { x, y: y - 60 } : { x: x - NODE_WIDTH, y: y - 60 },
      })
    },
    onReconnectStart: (_: unknown, { data }: FlowEdge) => {
      if (!data) return
      const open = disconnect(model.graph, new Set([edgeKey(data.edge)]))
      reconnecting.current = { edge: data.edge, open }
    },
    onReconnect: ({ data }: FlowEdge, drawn: Drawn) => {
      if (data) editor.change((graph) => reconnect(graph, products, data.edge, edgeFrom(drawn)))
    },
    onReconnectEnd: (_: unknown, { data }: FlowEdge, __: unknown, { toHandle }: FinalConnectionState) => {
      reconnecting.current = null
      if (!toHandle && data) editor.change((graph) => disconnect(graph, new Set([edgeKey(data.edge)])))
    },
  }
}

interface Drawn {
  source: string
  target: string
  sourceHandle?: string | null
  targetHandle?: string | null
}

const edgeFrom = ({ source, sourceHandle, target, targetHandle }: Drawn): GraphEdge => ({
  from: `${source}.${sourceHandle}`,
  to: `${target}.${targetHandle}`,
})

function pointOf(event: MouseEvent | TouchEvent): Position {
  const { clientX, clientY } = 'changedTouches' in event ? event.changedTouches[0]! : event
  return { x: clientX, y: clientY }
}

/** Key of the edge at a point of the screen, also below a node. */
function edgeAt(x: number, y: number): string | null {
  const edges = document.elementsFromPoint(x, y).map((element) => element.closest('.react-flow__edge'))
  return edges.find((edge) => edge !== null)?.getAttribute('data-id') ?? null
}

const middleOf = (element: Element): Position => {
  const { left, top, width, height } = element.getBoundingClientRect()
  return { x: left + width / 2, y: top + height / 2 }
}

/** What the context menu acts on. `select` selects it, unless it is part of the selection already. */
function menuTarget(
  on: Element,
  edgeOf: (key: string | null) => GraphEdge | null,
): { target: MenuTarget; select?: (editor: ReturnType<typeof useSession>['editor']) => void } {
  const id = on.closest('.react-flow__node')?.getAttribute('data-id') ?? null
  const edge = edgeOf(on.closest('.react-flow__edge')?.getAttribute('data-id') ?? null)
  if (edge)
    return {
      target: { on: 'edge', edge },
      select: (editor) => {
        const key = edgeKey(edge)
        if (!editor.store.getState().selectedEdges.has(key)) editor.select([], [key])
      },
    }
  if (on.closest('.react-flow__nodesselection')) return { target: { on: 'selection' } }
  if (id === null) return { target: { on: 'canvas' } }
  const note = noteIdOf(id)
  return {
    target: { on: 'selection' },
    select: (editor) => {
      const { selectedNodes, selectedNotes } = editor.store.getState()
      if (note === null && !selectedNodes.has(id)) editor.select([id])
      if (note !== null && !selectedNotes.has(note)) editor.select([], [], [note])
    },
  }
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
