import { memo, useEffect, useRef } from 'react'
import { useUpdateNodeInternals, type NodeProps, Handle, Position } from '@xyflow/react'
import { Plus, TriangleAlert } from 'lucide-react'
import { useStore } from 'zustand'
import { kindTitle, nodeParameters, nodeSummary } from '../core/kind-labels.ts'
import { several } from '../../components/usd.ts'
import type { FlowCard } from './drawn-flow.ts'
import { KindIcon } from './kind-icon.tsx'
import { NodeRunState } from '../run/run-outcome.tsx'
import { useRunStore } from '../run/run-store.ts'
import type { CanvasPort } from '../core/canvas-model.ts'
import { useOpenTask } from './canvas-tasks.ts'

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
