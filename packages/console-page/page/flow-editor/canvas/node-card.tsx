import { memo, useEffect, useRef } from 'react'
import { useUpdateNodeInternals, type NodeProps } from '@xyflow/react'
import { kindTitle } from '../core/kind-labels.ts'
import { nodeSummary } from '../core/node-summary.ts'
import { several } from '../../pure/usd.ts'
import type { FlowNode } from './drawn-items.ts'
import { KindIcon } from './kind-icon.tsx'
import { NodeRunState } from '../run/node-run-state.tsx'
import { PortRow } from './port-row.tsx'

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
