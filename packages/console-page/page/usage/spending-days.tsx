import { useQuery } from '@tanstack/react-query'
import type { UsageReport } from '@gateway/api/console/money'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { Chart, ChartWaiting } from '../components/chart.tsx'
import { usdTick } from '../components/chart-scale.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { count, usd } from '../components/usd.ts'
import { Money } from '../components/values.tsx'
import { dayOf } from '../overview/use-spending.ts'
import { groupSums, seriesOf, usageSteps, withErrors, type GroupSum } from './usage-stacks.ts'

const USAGE = '/api/v2/tenants/{tenant}/projects/{project}/usage'

interface Props {
  /** Shows the charges of this key or model alone. */
  of?: { by: 'key' | 'model'; id: string; name: string }
  /** Names of flows: stacks the charges of flows by flow. */
  flowNames?: ReadonlyMap<string, string>
}

/** Charges of the last 30 days, stacked by model or flow or of one key or model, with the data as a table. */
export function SpendingDays({ of, flowNames }: Props) {
  const now = new Date()
  const by = of?.by ?? (flowNames ? 'sandbox' : 'model')
  const query = { by, step: 'day', zone: 'UTC', from: `${dayOf(now, -29)}T00:00:00.000Z` } as const
  const read = useQuery(
    reading(USAGE, { params: useScope(), query: { ...query, to: `${dayOf(now, 1)}T00:00:00.000Z` } }),
  )
  const isShown = (group: string | null) => (of ? group === of.id : !flowNames || group !== null)
  const { data, error } = read.data ? { ...read, data: onlyOf(read.data, isShown) } : read
  const nameOf = (group: string | null) => of?.name ?? flowNames?.get(group ?? '') ?? group ?? 'No model'
  const groups = groupSums(data ? withErrors(data) : [])
  return (
    <section className="card stack" aria-label="Charged in the last 30 days">
      <div className="head">
        <h2>Charged in the last 30 days</h2>
        {data && <Money micro={data.totalMicro} />}
      </div>
      <RefusalBox error={error} />
      {!data && !error && <ChartWaiting height={CHART_HEIGHT} />}
      {data && groups.length === 0 && <p className="soft">No charges in the last 30 days.</p>}
      {data && groups.length > 0 && (
        <>
          <Chart
            label="Spend per day"
            series={seriesOf(groups, nameOf)}
            steps={usageSteps({ ...data, data: withErrors(data) }, groups)}
            step="day"
            zone="UTC"
            format={usd}
            formatTick={usdTick}
            height={CHART_HEIGHT}
          />
          <details>
            <summary className="soft">Show data</summary>
            <DataTable
              caption="Charges per day"
              columns={dayColumns}
              rows={groupSums(withErrors(data).map((row) => ({ ...row, group: row.time!.slice(0, 10) }))).toSorted(
                (a, b) => b.group!.localeCompare(a.group!),
              )}
              keyOf={({ group }) => group!}
            />
          </details>
        </>
      )}
    </section>
  )
}

/** The part of a usage report that is about some of its groups. */
function onlyOf(report: UsageReport, isShown: (group: string | null) => boolean): UsageReport {
  const data = report.data.filter(({ group }) => isShown(group))
  return { ...report, data, totalMicro: data.reduce((micro, { chargedMicro }) => micro + chargedMicro, 0) }
}

const CHART_HEIGHT = 200

const dayColumns: Column<GroupSum>[] = [
  { head: 'Day (UTC)', cell: ({ group }) => group },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
]
