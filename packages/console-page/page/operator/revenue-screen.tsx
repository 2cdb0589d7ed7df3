import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { RevenueReport } from '@gateway/api/console/platform-money'
import { reading } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { Select } from '../components/select.tsx'
import { count } from '../components/usd.ts'
import { Facts, Money } from '../components/values.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import type { RevenueView } from './operator-views.ts'
import { monthText, monthsBefore, revenueOf } from './revenue-months.ts'

/** Charges of all projects by product and month. */
export function RevenueScreen() {
  const { months = 6 } = useSearch({ from: '/operator/revenue' })
  const to = new Date().toISOString().slice(0, 7)
  const revenue = useQuery({
    ...reading('/api/v2/revenue', { params: {}, query: { from: monthsBefore(to, months - 1), to } }),
    enabled: useMe().platformOperator,
    placeholderData: keepPreviousData,
  })
  return (
    <OperatorScreen title="Revenue" actions={<MonthsChoice months={months} />}>
      <Loaded of={revenue} what="revenue">
        {(report) => (
          <>
            <Facts
              className="figures"
              of={[
                [`${monthText(report.to)}, so far`, <Money key="now" micro={revenueOf(report, report.to)} />],
                [
                  monthText(monthsBefore(report.to, 1)),
                  <Money key="before" micro={revenueOf(report, monthsBefore(report.to, 1))} />,
                ],
                [`Since ${monthText(report.from)}`, <Money key="total" micro={report.totalMicro} />],
              ]}
            />
            <DataList
              name="revenue"
              caption="Revenue by month and product"
              columns={columns}
              rows={report.data}
              keyOf={({ month, product }) => `${month} ${product}`}
              searchBy={({ month, product, productName }) => `${monthText(month)} ${product} ${productName ?? ''}`}
              empty={
                <EmptyState title="No revenue in these months">
                  Charges appear here within seconds of their settlement.
                </EmptyState>
              }
            />
          </>
        )}
      </Loaded>
      <p className="soft small">
        Months are in UTC, by the admission of a call. The gateway doesn't record what providers bill, so this is
        revenue before provider costs, and there is no margin.
      </p>
    </OperatorScreen>
  )
}

const choices = [
  [6, 'Last 6 months'],
  [12, 'Last 12 months'],
  [24, 'Last 24 months'],
] as const

function MonthsChoice({ months }: { months: 6 | 12 | 24 }) {
  const navigate = useNavigate({ from: '/operator/revenue' })
  const searchOf = (chosen: 6 | 12 | 24): RevenueView => (chosen === 6 ? {} : { months: chosen })
  return (
    <Select
      aria-label="Time"
      value={months}
      options={choices}
      onChange={(chosen) => void navigate({ search: searchOf(chosen), resetScroll: false })}
    />
  )
}

type Row = RevenueReport['data'][number]

const figure = (head: string, of: (row: Row) => number): Column<Row> => ({
  head,
  isNumber: true,
  sortBy: of,
  csv: of,
  cell: (row) => count(of(row)),
})

const columns: Column<Row>[] = [
  {
    head: 'Product',
    sortBy: ({ productName, product }) => productName ?? product,
    csv: ({ product }) => product,
    cell: ({ product, productName }) => (
      <>
        {productName ?? <span className="soft">No longer in the catalogue</span>}
        <div className="small">
          <code>{product}</code>
        </div>
      </>
    ),
  },
  {
    head: 'Month',
    sortBy: ({ month }) => month,
    csv: ({ month }) => month,
    cell: ({ month }) => monthText(month),
  },
  figure('Calls', ({ calls }) => calls),
  figure('Input tokens', ({ promptTokens }) => promptTokens),
  figure('Output tokens', ({ completionTokens }) => completionTokens),
  {
    head: 'Revenue',
    isNumber: true,
    sortBy: ({ chargedMicro }) => chargedMicro,
    csv: ({ chargedMicro }) => chargedMicro / 1_000_000,
    cell: ({ chargedMicro }) => <Money micro={chargedMicro} />,
  },
]
