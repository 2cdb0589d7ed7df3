import type { Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Money } from '../parts/money.tsx'
import { count } from '../pure/usd.ts'

interface Line {
  what: string
  micro: number
}

const columns: Column<Line>[] = [
  { head: 'Balance', cell: ({ what }) => what },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
]

/** Opening, what came and went, closing: the lines add up, as they are. */
export function StatementSum({ of }: { of: Statement }) {
  const lines: Line[] = [
    { what: `Opening, ${of.from}`, micro: of.openingMicro },
    { what: 'Funded', micro: of.fundedMicro },
    { what: 'Corrected', micro: of.correctedMicro },
    { what: `Charged for ${count(of.calls)} calls`, micro: -of.chargedMicro },
    { what: of.final ? `Closing, before ${of.to}` : 'Now', micro: of.closingMicro },
  ]
  return (
    <section className="card stack" aria-label="The balance of the month">
      <DataTable caption="The balance of the month" columns={columns} rows={lines} keyOf={({ what }) => what} />
      {!of.final && of.reservedMicro > 0 && (
        <p className="soft">
          Of it <Money micro={of.reservedMicro} /> are reserved for calls under way.
        </p>
      )}
    </section>
  )
}
