import type { Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/money.tsx'
import { count } from '../pure/usd.ts'

type Day = Statement['days'][number]

const columns: Column<Day>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => day },
  { head: 'Funded', cell: ({ fundedMicro }) => <Money micro={fundedMicro} />, isNumber: true },
  { head: 'Corrected', cell: ({ correctedMicro }) => <Money micro={correctedMicro} />, isNumber: true },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
  { head: 'Closing balance', cell: ({ closingMicro }) => <Money micro={closingMicro} />, isNumber: true },
]

/** Activity by day, with the closing balance of each. */
export function BookedDays({ of: { days } }: { of: Statement }) {
  return (
    <section className="stack" aria-label="Daily activity">
      <h2>Daily activity</h2>
      <DataTable caption="Daily activity" columns={columns} rows={days} keyOf={({ day }) => day} />
    </section>
  )
}
