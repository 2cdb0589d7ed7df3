import { useQuery } from '@tanstack/react-query'
import type { UsageFigures, UsageReport } from '@gateway/api/console/money'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { Chart, ChartWaiting } from '../components/chart.tsx'
import { usdTick } from '../components/chart-scale.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { count, usd } from '../components/usd.ts'
import { Money } from '../components/values.tsx'
import { dayOf } from '../overview/use-spending.ts'
import { seriesOf, SHOWN_GROUPS, usageSteps } from './usage-stacks.ts'

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
  const only = of ? { group: of.id } : { top: SHOWN_GROUPS }
  const query = { by, step: 'day', zone: 'UTC', from: `${dayOf(now, -29)}T00:00:00.000Z`, ...only } as const
  const read = useQuery(
    reading(USAGE, { params: useScope(), query: { ...query, to: `${dayOf(now, 1)}T00:00:00.000Z` } }),
  )
  const { data, error } = flowNames && read.data ? { ...read, data: withoutDirectCalls(read.data) } : read
  const nameOf = (group: string | null) => of?.name ?? flowNames?.get(group ?? '') ?? group ?? 'No model'
  return (
    <section className="card stack" aria-label="Charged in the last 30 days">
      <div className="head">
        <h2>Charged in the last 30 days</h2>
        {data && <Money micro={data.total.chargedMicro} />}
      </div>
      <RefusalBox error={error} />
      {!data && !error && <ChartWaiting height={CHART_HEIGHT} />}
      {data?.groupCount === 0 && <p className="soft">No charges in the last 30 days.</p>}
      {data && data.groupCount > 0 && (
        <>
          <Chart
            label="Spend per day"
            series={seriesOf(data, nameOf)}
            steps={usageSteps(data)}
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
              rows={(data.steps ?? []).toReversed()}
              keyOf={({ time }) => time}
            />
          </details>
        </>
      )}
    </section>
  )
}

/** A usage report by flow without the calls that no flow made. */
function withoutDirectCalls(report: UsageReport): UsageReport {
  const isDirect = ({ group }: { group: string | null }) => group === null
  const direct = new Map(report.data.filter(isDirect).map((row) => [row.time, row]))
  const groups = report.groups ?? []
  const total = groups.find(isDirect)
  return {
    ...report,
    data: report.data.filter((row) => !isDirect(row)),
    steps: (report.steps ?? []).map((step) => ({ ...step, ...minus(step, direct.get(step.time)) })),
    groups: groups.filter((row) => !isDirect(row)),
    groupCount: report.groupCount - (total ? 1 : 0),
    total: { ...report.total, ...minus(report.total, total) },
  }
}

/** The difference that this screen shows. */
function minus(of: UsageFigures, other: UsageFigures | undefined) {
  return { calls: of.calls - (other?.calls ?? 0), chargedMicro: of.chargedMicro - (other?.chargedMicro ?? 0) }
}

const CHART_HEIGHT = 200

const dayColumns: Column<NonNullable<UsageReport['steps']>[number]>[] = [
  { head: 'Day (UTC)', cell: ({ time }) => time.slice(0, 10) },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
]
