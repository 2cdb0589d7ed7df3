import { memo, useEffect, useRef } from 'react'
import {
  useUpdateNodeInternals,
  type NodeProps,
  Handle,
  Position,
  NodeResizeControl,
  BaseEdge,
  getBezierPath,
  type EdgeProps,
} from '@xyflow/react'
import { Plus, TriangleAlert } from 'lucide-react'
import { useStore } from 'zustand'
import { kindTitle, nodeParameters, nodeSummary } from '../core/kind-labels.ts'
import { several } from '../../components/usd.ts'
import { type FlowCard, noteNodeId, type FlowNote, type FlowEdge } from './drawn-flow.ts'
import { KindIcon } from './kind-icon.tsx'
import { NodeRunState } from '../run/run-outcome.tsx'
import { useRunStore } from '../run/run-store.ts'
import type { CanvasPort } from '../core/canvas-model.ts'
import { useOpenTask } from './canvas-tasks.ts'
import { noteColors, type GraphEdge } from '@gateway/api/graph'
import { changeNotes } from '../core/note-commands.ts'
import { useSession } from '../state/open-editor.ts'

// What React Flow draws on the canvas: nodes, notes and edges.

/** Node of any kind, with its title, summary and ports. */
export const NodeCard = memo(function NodeCard({ data: { drawn, warnings }, selected }: NodeProps<FlowCard>) {
  const { key, node, inputs, outputs, problems } = drawn
  const title = typeof node['title'] === 'string' && node['title'] !== '' ? node['title'] : node.id
  const summary = nodeSummary(node)
  const parameters = nodeParameters(node)
  const hasFailed = useStore(useRunStore(), ({ nodes }) => nodes.get(node.id)?.status === 'Failed')
  // The canvas caches handle positions by name, so it must re-measure when the ports change. Skip the first render: the
  // canvas measures by itself then, and a request would make it show only this node.
  const refresh = useUpdateNodeInternals()
  const ports = JSON.stringify([inputs, outputs].map((side) => side.map(({ name }) => name)))
  const seen = useRef(ports)
  useEffect(() => {
    if (seen.current === ports) return
    seen.current = ports
    refresh(key)
  }, [refresh, key, ports])
  return (
    <div className={`node ${cardStates(selected, problems.length > 0, hasFailed)}`} data-kind={node.kind}>
      <div className="node-head">
        <KindIcon kind={node.kind} />
        <span className="node-title">
          <strong>{title}</strong>
          <small>{kindTitle(node.kind).title}</small>
        </span>
        <Count messages={problems.map(({ message }) => message)} what="problem" />
        {problems.length === 0 && <Count messages={warnings} what="warning" />}
        {hasFailed && <TriangleAlert className="node-failed" aria-label="Failed" />}
      </div>
      {summary !== '' && <p className="node-summary">{summary}</p>}
      {parameters !== '' && <p className="node-parameters">{parameters}</p>}
      <div className="node-ports">
        <div>
          {inputs.map((port) => (
            <PortRow key={port.name} nodeKey={key} port={port} side="input" />
          ))}
        </div>
        <div>
          {outputs.map((port) => (
            <PortRow key={port.name} nodeKey={key} port={port} side="output" />
          ))}
        </div>
      </div>
      <NodeRunState id={node.id} />
    </div>
  )
})

function cardStates(isSelected: boolean | undefined, isFaulty: boolean, hasFailed: boolean): string {
  return [isSelected && 'selected', isFaulty && 'faulty', hasFailed && 'failed'].filter(Boolean).join(' ')
}

/** Number of problems or warnings, with their messages on hover. */
function Count({ messages, what }: { messages: readonly string[]; what: 'problem' | 'warning' }) {
  if (messages.length === 0) return null
  return (
    <span className={`node-count ${what}`} title={messages.join('\n')}>
      <span aria-hidden="true">{what === 'warning' ? '!' : messages.length}</span>
      <span className="visually-hidden">{several(messages.length, what)}</span>
    </span>
  )
}

/** Port with a handle in the color and shape of its type. Its name opens the dialog that connects it. */
function PortRow({ nodeKey, port, side }: { nodeKey: string; port: CanvasPort; side: 'input' | 'output' }) {
  const openTask = useOpenTask()
  const { name, type, isRequired, isWired, isMissing, problems } = port
  const isFaulty = isMissing || problems.length > 0
  const states = [`type-${type}`, isWired && 'wired', isFaulty && 'faulty'].filter(Boolean).join(' ')
  const needs = isRequired && !isWired ? ', needs a value' : ''
  return (
    <div className={`port ${side} ${states}`}>
      <Handle
        id={name}
        type={side === 'input' ? 'target' : 'source'}
        position={side === 'input' ? Position.Left : Position.Right}
        className={states}
        isConnectable={!isMissing}
      />
      <button
        type="button"
        className="port-name nodrag"
        aria-label={`Connect ${side} ${name}, ${type}${needs}`}
        title={problems[0]?.message ?? `${name}: ${type}. Connect to …`}
        onClick={() => openTask({ task: 'connect', from: { key: nodeKey, port: name, side } })}
      >
        {name}
        {isRequired && side === 'input' && <span aria-hidden="true">*</span>}
      </button>
      {side === 'output' && !isWired && (
        <button
          type="button"
          className="port-add nodrag nopan"
          aria-label={`Add a node after ${nodeKey}.${name}`}
          onClick={() => openTask({ task: 'add', position: null, joint: { port: { key: nodeKey, port: name, side } } })}
        >
          <Plus aria-hidden="true" focusable="false" />
        </button>
      )}
    </div>
  )
}

const LEAST = { width: 120, height: 72 }
const LONGEST = 4_000

/** Sticky note behind the nodes. A double click or Enter edits its text in place. */
export const NoteCard = memo(function NoteCard({ data: { note, isEditing }, selected }: NodeProps<FlowNote>) {
  const { editor } = useSession()
  const openTask = useOpenTask()
  const set = (change: Parameters<typeof changeNotes>[1] extends ReadonlyMap<string, infer Change> ? Change : never) =>
    editor.change((graph) => changeNotes(graph, new Map([[note.id, change]])), `note ${note.id}`)
  return (
    <div
      className={`note note-${note.color}${selected ? ' selected' : ''}`}
      onDoubleClick={() => openTask({ task: 'note', id: note.id })}
    >
      {isEditing ? (
        <textarea
          className="nodrag nowheel"
          aria-label="Text of the note"
          maxLength={LONGEST}
          value={note.text}
          ref={(field) => field?.focus()}
          onChange={({ target }) => set({ text: target.value })}
          onBlur={() => openTask(null)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            document.querySelector<HTMLElement>(`[data-id="${CSS.escape(noteNodeId(note.id))}"]`)?.focus()
          }}
        />
      ) : (
        <p>{note.text || <span className="soft">Double-click or press Enter to write.</span>}</p>
      )}
      {selected && (
        <>
          <div className="note-colors nodrag" role="group" aria-label="Color of the note">
            {noteColors.map((color) => (
              <button
                key={color}
                type="button"
                className={`note-${color}`}
                aria-label={color}
                aria-pressed={note.color === color}
                onClick={() => set({ color })}
              />
            ))}
          </div>
          <NodeResizeControl position="bottom-right" minWidth={LEAST.width} minHeight={LEAST.height} />
        </>
      )}
    </div>
  )
})

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
