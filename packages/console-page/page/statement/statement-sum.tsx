import type { Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/values.tsx'
import { count } from '../components/usd.ts'

interface Line {
  what: string
  micro: number
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

const columns: Column<Line>[] = [
  { head: 'Balance', cell: ({ what }) => what },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
]

/** Opening balance, changes and closing balance. The lines add up exactly. */
export function StatementSum({ of }: { of: Statement }) {
  const lines: Line[] = [
    { what: `Opening, ${day.format(new Date(of.from))}`, micro: of.openingMicro },
    { what: 'Funded', micro: of.fundedMicro },
    { what: 'Corrected', micro: of.correctedMicro },
    { what: `Charged for ${count(of.calls)} calls`, micro: -of.chargedMicro },
    { what: of.final ? `Closing, before ${day.format(new Date(of.to))}` : 'Now', micro: of.closingMicro },
  ]
  return (
    <section className="card stack" aria-label="Monthly balance">
      <DataTable caption="Monthly balance" columns={columns} rows={lines} keyOf={({ what }) => what} />
      {!of.final && of.reservedMicro > 0 && (
        <p className="soft">
          <Money micro={of.reservedMicro} /> of this is reserved for calls in progress.
        </p>
      )}
    </section>
  )
}
