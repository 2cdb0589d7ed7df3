import type { Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/values.tsx'
import { count } from '../components/usd.ts'

interface Charge {
  calls: number
  chargedMicro: number
}

const figures: Column<Charge>[] = [
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true, sortBy: ({ calls }) => calls },
  {
    head: 'Charged',
    cell: ({ chargedMicro }) => <Money micro={chargedMicro} />,
    isNumber: true,
    sortBy: ({ chargedMicro }) => chargedMicro,
  },
]

const modelColumns: Column<Statement['charges'][number]>[] = [
  { head: 'Model', cell: ({ model }) => <code>{model}</code>, sortBy: ({ model }) => model },
  ...figures,
]

const tagColumns: Column<Statement['tags'][number]>[] = [
  { head: 'Tag', cell: ({ tag }) => tag ?? <span className="soft">No tag</span>, sortBy: ({ tag }) => tag },
  ...figures,
]

/** Charges of a period by model. */
export function ModelCharges({ caption, charges }: { caption: string; charges: Statement['charges'] }) {
  return <DataTable caption={caption} columns={modelColumns} rows={charges} keyOf={({ model }) => model} />
}

/** Charges of a period by tag. */
export function TagCharges({ charges }: { charges: Statement['tags'] }) {
  return <DataTable caption="Charged by tag" columns={tagColumns} rows={charges} keyOf={({ tag }) => tag ?? ''} />
}
