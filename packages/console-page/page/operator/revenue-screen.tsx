import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { RevenueFigures, RevenueReport } from '@gateway/api/console/platform-money'
import { reading } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { Chart } from '../components/chart.tsx'
import { usdTick } from '../components/chart-scale.ts'
import { DataList } from '../components/data-list.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { Select } from '../components/select.tsx'
import { count, inUsd, usd } from '../components/usd.ts'
import { Facts, Money } from '../components/values.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import type { RevenueView } from './operator-views.ts'
import { monthFrom, monthLabels } from '../statement/statement-month.ts'
import {
  knownShare,
  marginRate,
  type MonthFigures,
  monthsOf,
  rateText,
  revenueChart,
  shareText,
} from './revenue-months.ts'

/** Charges, provider costs and margin of all projects by product and month. */
export function RevenueScreen() {
  const { months = 6 } = useSearch({ from: '/operator/revenue' })
  const to = new Date().toISOString().slice(0, 7)
  const revenue = useQuery({
    ...reading('/api/v2/revenue', { params: {}, query: { from: monthFrom(to, 1 - months), to } }),
    enabled: useMe().platformOperator,
    placeholderData: keepPreviousData,
  })
  return (
    <OperatorScreen title="Revenue" actions={<MonthsChoice months={months} />}>
      <Loaded of={revenue} what="revenue">
        {(report) => (
          <>
            {report.data.length > 0 && <Months report={report} />}
            <DataList
              name="revenue"
              caption="Revenue by month and product"
              columns={columns}
              csvColumns={csvColumns}
              rows={report.data}
              keyOf={({ month, product }) => `${month} ${product}`}
              searchBy={({ month, product, productName }) => `${monthLabels(month)} ${product} ${productName ?? ''}`}
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
        The margin is what calls were charged, less what their providers charge. It covers only calls whose provider
        cost is known: an unknown cost is never counted as zero. Enter what a provider charges with the{' '}
        <Link to="/operator/products">products</Link>; it applies to calls admitted from then on. Months are in UTC, by
        the admission of a call.
      </p>
    </OperatorScreen>
  )
}

/** All products together: the whole time, and each month. */
function Months({ report }: { report: RevenueReport }) {
  const { total } = report
  const months = monthsOf(report)
  const rate = marginRate(total)
  return (
    <section className="card stack" aria-label="All products">
      <Facts
        className="figures"
        of={[
          [`Charged since ${monthLabels(report.from)}`, <Money key="charged" micro={total.chargedMicro} />],
          ['Provider cost', <Amount key="cost" micro={total.costMicro} />],
          [rate === null ? 'Margin' : `Margin, ${rateText(rate)}`, <Amount key="margin" micro={total.marginMicro} />],
          [
            'Cost known for',
            <span key="known">
              <KnownShare of={total} /> of {total.chargedMicro > 0 ? 'charges' : 'calls'}
            </span>,
          ],
        ]}
      />
      <Chart
        key={report.from}
        label="Charged and provider cost per month"
        {...revenueChart(months)}
        step="month"
        zone="UTC"
        format={usd}
        formatTick={usdTick}
        height={220}
      />
      <details>
        <summary className="soft">Show data</summary>
        <DataTable
          caption="Revenue by month"
          columns={monthColumns}
          rows={months}
          keyOf={({ month }: MonthFigures) => month}
        />
      </details>
    </section>
  )
}

/** An amount that depends on provider costs; null: none is known. */
function Amount({ micro }: { micro: number | null }) {
  return micro === null ? <span className="soft">Unknown</span> : <Money micro={micro} />
}

/** Share of the charges whose provider cost is known. */
function KnownShare({ of }: { of: RevenueFigures }) {
  const share = knownShare(of)
  if (share === null) return <span className="soft">–</span>
  return <span title={`Cost known for ${count(of.costedCalls)} of ${count(of.calls)} calls`}>{shareText(share)}</span>
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

const number = (head: string, of: (row: RevenueFigures) => number | null, cell: Column<RevenueFigures>['cell']) => ({
  head,
  isNumber: true,
  sortBy: of,
  csv: of,
  cell,
})

const amount = (head: string, of: (row: RevenueFigures) => number | null) => ({
  ...number(head, of, (row) => <Amount micro={of(row)} />),
  csv: (row: RevenueFigures) => inUsd(of(row)),
})

const calls = number(
  'Calls',
  (row) => row.calls,
  (row) => count(row.calls),
)
const charged = amount('Charged', (row) => row.chargedMicro)
const cost = amount('Provider cost', (row) => row.costMicro)
const margin = amount('Margin', (row) => row.marginMicro)
const known = number('Cost known for', knownShare, (row) => <KnownShare of={row} />)

const figures: Column<RevenueFigures>[] = [
  calls,
  number(
    'Tokens',
    (row) => row.promptTokens + row.completionTokens,
    ({ promptTokens, completionTokens }) => (
      <>
        {count(promptTokens)} in
        <div className="small soft">{count(completionTokens)} out</div>
      </>
    ),
  ),
  charged,
  cost,
  {
    ...margin,
    cell(row) {
      const rate = marginRate(row)
      return (
        <>
          {margin.cell(row)}
          {rate !== null && <div className="small soft">{rateText(rate)}</div>}
        </>
      )
    },
  },
  known,
]

const month: Column<{ month: string }> = {
  head: 'Month',
  sortBy: (row) => row.month,
  csv: (row) => row.month,
  cell: (row) => monthLabels(row.month),
}

const product: Column<Row> = {
  head: 'Product',
  sortBy: (row) => row.productName ?? row.product,
  csv: (row) => row.product,
  cell: (row) => (
    <>
      {row.productName ?? <span className="soft">No longer in the catalogue</span>}
      <div className="small">
        <code>{row.product}</code>
      </div>
    </>
  ),
}

const monthColumns: Column<MonthFigures>[] = [month, ...figures]
const columns: Column<Row>[] = [product, month, ...figures]
const csvColumns: Pick<Column<Row>, 'head' | 'csv'>[] = [
  product,
  month,
  calls,
  { head: 'Input tokens', csv: (row) => row.promptTokens },
  { head: 'Output tokens', csv: (row) => row.completionTokens },
  charged,
  cost,
  margin,
  { head: 'Margin rate', csv: marginRate },
  { head: 'Calls with a known cost', csv: (row) => row.costedCalls },
  { head: 'Charged with a known cost', csv: (row) => inUsd(row.costedMicro) },
]
