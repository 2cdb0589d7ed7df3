import { useStore } from 'zustand'
import { useRunStore } from './run-store.ts'
import { usd } from '../../pure/usd.ts'

/** State of a node in the shown execution. Renders nothing without an execution. */
export function NodeRunState({ id }: { id: string }) {
  const record = useStore(useRunStore(), ({ nodes }) => nodes.get(id))
  if (!record) return null
  const { status, durationMs, chargedMicro, error, takenOver } = record
  return (
    <p className={`node-run ${status.toLowerCase()}`} title={error?.message}>
      <span>{takenOver ? 'reused' : nodeLabels[status]}</span>
      {durationMs !== null && !takenOver && <span>{durationMs} ms</span>}
      {chargedMicro > 0 && <span>{usd(chargedMicro)}</span>}
    </p>
  )
}

export const nodeLabels = {
  Pending: 'waiting',
  Running: 'running',
  Succeeded: 'done',
  Failed: 'failed',
  Skipped: 'skipped',
} as const
