import { durationText } from '../../calls/call-labels.ts'
import { nodeLabels } from '../../flow-editor/run/node-run-state.tsx'
import type { RunState } from '../../flow-editor/run/run-store.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { Money } from '../../components/money.tsx'

type Row = [id: string, node: RunState['nodes'] extends ReadonlyMap<string, infer Node> ? Node : never]

/** Nodes of an execution with their state, duration and charge. */
export function FlowProgress({ of: { nodes } }: { of: RunState }) {
  return <DataTable caption="Nodes" columns={columns} rows={[...nodes] as Row[]} keyOf={([id]) => id} />
}

const tones: Record<keyof typeof nodeLabels, Tone> = {
  Pending: 'plain',
  Running: 'warn',
  Succeeded: 'good',
  Failed: 'bad',
  Skipped: 'plain',
}

const columns: Column<Row>[] = [
  { head: 'Node', cell: ([id]) => <code>{id}</code> },
  { head: 'State', cell: ([, { status }]) => <Badge tone={tones[status]} text={nodeLabels[status]} /> },
  { head: 'Time', cell: ([, { durationMs }]) => durationText(durationMs) },
  { head: 'Charged', cell: ([, { chargedMicro }]) => <Money micro={chargedMicro} /> },
]
