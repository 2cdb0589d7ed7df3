import { DataTable, type Column } from '../parts/data-table.tsx'
import { Money } from '../parts/money.tsx'
import { count } from '../pure/usd.ts'
import { useMonth } from './use-spending.ts'

interface Charge {
  model: string
  calls: number
  chargedMicro: number
}

const columns: Column<Charge>[] = [
  { head: 'Model', cell: ({ model }) => <code>{model}</code> },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
]

/** This month's charges as the statement sums them. */
export function MonthByModel() {
  const { data } = useMonth()
  return (
    <section className="card stack" aria-label="This month by model">
      <div className="head">
        <h2>This month by model</h2>
        {data && <Money micro={data.chargedMicro} />}
      </div>
      {data && data.charges.length > 0 ? (
        <DataTable
          caption="Charged this month, by model"
          columns={columns}
          rows={data.charges}
          keyOf={({ model }) => model}
        />
      ) : (
        <p className="soft">{data ? 'Nothing was charged this month.' : 'Loading…'}</p>
      )}
    </section>
  )
}
