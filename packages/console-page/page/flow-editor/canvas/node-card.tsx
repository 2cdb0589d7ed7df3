import { memo, useEffect, useRef } from 'react'
import { useUpdateNodeInternals, type NodeProps, Handle, Position } from '@xyflow/react'
import { kindTitle, nodeSummary } from '../core/kind-labels.ts'
import { several } from '../../components/usd.ts'
import type { FlowNode } from './drawn-flow.ts'
import { KindIcon } from './kind-icon.tsx'
import { NodeRunState } from '../run/run-outcome.tsx'
import type { CanvasPort } from '../core/canvas-model.ts'
import { useOpenTask } from './canvas-tasks.ts'

/** Node of any kind, with its title, summary and ports. */
export const NodeCard = memo(function NodeCard({ data: { drawn }, selected }: NodeProps<FlowNode>) {
  const { key, node, inputs, outputs, problems } = drawn
  const title = typeof node['title'] === 'string' && node['title'] !== '' ? node['title'] : node.id
  const summary = nodeSummary(node)
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
    <div className={`node${selected ? ' selected' : ''}${problems.length > 0 ? ' faulty' : ''}`} data-kind={node.kind}>
      <div className="node-head">
        <KindIcon kind={node.kind} />
        <span className="node-title">
          <strong>{title}</strong>
          <small>{kindTitle(node.kind).title}</small>
        </span>
        {problems.length > 0 && (
          <span className="node-problems" title={problems.map(({ message }) => message).join('\n')}>
            <span aria-hidden="true">{problems.length}</span>
            <span className="visually-hidden">{several(problems.length, 'problem')}</span>
          </span>
        )}
      </div>
      {summary !== '' && <p className="node-summary">{summary}</p>}
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
    </div>
  )
}
