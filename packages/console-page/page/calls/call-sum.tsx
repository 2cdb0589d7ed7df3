import type { InvocationRecord } from '@gateway/api/console/money'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/money.tsx'
import { callSum, total, type SumLine } from '../pure/call-sum.ts'
import { count } from '../pure/usd.ts'

const columns: Column<SumLine>[] = [
  { head: 'What', cell: ({ what }) => what },
  { head: 'Count', cell: (line) => count(line.count), isNumber: true },
  { head: 'Unit price', cell: ({ each }) => `$${each}`, isNumber: true },
  { head: 'Amount', cell: ({ amount }) => `$${amount}`, isNumber: true },
]

/** Itemized charge, at the prices of admission. */
export function CallSum({ call }: { call: InvocationRecord }) {
  const lines = callSum(call)
  if (lines.length === 0) return null
  const isBounded = call.chargedMicro === call.reservedMicro
  return (
    <section className="stack" aria-label="Cost breakdown">
      <h2>Cost breakdown</h2>
      <DataTable caption="Line items" columns={columns} rows={lines} keyOf={({ what }) => what} />
      <p>
        Total <span className="figure">${total(lines)}</span> at the prices when the call was admitted, rounded up once
        to the next $0.000001:{' '}
        <strong>
          <Money micro={call.chargedMicro} />
        </strong>
        .{isBounded && ' The charge never exceeds the reservation.'}
        {call.estimated && ' The tokens were counted by the gateway, because the provider reported none.'}
      </p>
    </section>
  )
}
