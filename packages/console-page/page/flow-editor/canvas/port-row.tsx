import { Handle, Position } from '@xyflow/react'
import type { CanvasPort } from '../core/canvas-model.ts'
import { useOpenTask } from './canvas-tasks.ts'

/** Port with a handle in the color and shape of its type. Its name opens the dialog that connects it. */
export function PortRow({ nodeKey, port, side }: { nodeKey: string; port: CanvasPort; side: 'input' | 'output' }) {
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
