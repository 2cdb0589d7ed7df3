import type { Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/values.tsx'
import { count } from '../components/usd.ts'

type Charge = Statement['charges'][number]

const columns: Column<Charge>[] = [
  { head: 'Model', cell: ({ model }) => <code>{model}</code>, sortBy: ({ model }) => model },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true, sortBy: ({ calls }) => calls },
  {
    head: 'Charged',
    cell: ({ chargedMicro }) => <Money micro={chargedMicro} />,
    isNumber: true,
    sortBy: ({ chargedMicro }) => chargedMicro,
  },
]

/** Charges of a period by model. */
export function ModelCharges({ caption, charges }: { caption: string; charges: Charge[] }) {
  return <DataTable caption={caption} columns={columns} rows={charges} keyOf={({ model }) => model} />
}
