import { useState } from 'react'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { failedBy } from '../api/failed.ts'
import { reading, readingAll } from '../api/queries.ts'
import type { UsageFigures, UsageReport } from '@gateway/api/console/money'
import { useScope, useProjectName, useKeyNames, useMemberNames, type ProjectScope } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { Money } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { durationText } from '../calls/call-columns.tsx'
import { isTiming, timingOf, timingSteps, withTimingBefore } from './usage-latency.ts'
import {
  queryBefore,
  seriesOf,
  SHOWN_GROUPS,
  usageSteps,
  valueOf,
  withBefore,
  zoomOf,
  type Zoom,
} from './usage-stacks.ts'
import { UsageTable, type NameOfGroup } from './usage-table.tsx'
import {
  dateText,
  daysBetween,
  groupings,
  inUtc,
  metrics,
  periodOf,
  ranges,
  usageQueryOf,
  type Grouping,
  type Metric,
  type Range,
  type UsageView,
} from './usage-view.ts'
import { Chart } from '../components/chart.tsx'
import { countTick, msTick, usdTick } from '../components/chart-scale.ts'
import { FilterChip } from '../components/filters.tsx'
import { Select } from '../components/select.tsx'
import { count, usd } from '../components/usd.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/usage'

/** Spend, calls, tokens, errors and latency over time and by group. */
export function UsageScreen() {
  const scope = useScope()
  const view = useSearch({ from: '/projects/$tenant/$project/usage' })
  const { by = 'model', metric = 'spend' } = view
  const asked = usageQueryOf(view, new Date(), new Intl.DateTimeFormat().resolvedOptions().timeZone)
  const { data, error, isPending } = useQuery({ ...readingUsage(scope, asked), placeholderData: keepPreviousData })
  const query = data?.zone === 'UTC' ? inUtc(asked) : asked
  const { from, to } = data ?? query // the answer's, because it contains whole steps
  const earlier = useQuery({
    ...reading(PATH, { params: scope, query: { ...queryBefore({ ...query, from, to }), include: 'latency' } }),
    enabled: data !== undefined,
  })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const nameOf = useGroupNames(by, data?.groups ?? [])
  const isLatency = isTiming(metric)
  const showsLatency = isLatency || metric === 'errors'
  const { groups = [], groupCount = 0 } = data ?? {}
  const { top: _, order: __, ...everything } = query
  const csvQuery = { ...everything, ...(showsLatency && { include: 'latency' }), format: 'csv' }
  const csv = `${PATH.replace('{tenant}', scope.tenant).replace('{project}', scope.project)}?${new URLSearchParams(csvQuery)}`
  const steps = data && stepsOf(data, metric, earlier.data)
  return (
    <Screen
      title="Usage"
      of={useProjectName()}
      actions={
        <a className="button" href={csv} download>
          CSV
        </a>
      }
    >
      <UsageChoices {...view} />
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="usage" />}
      {data && groups.length === 0 && (
        <EmptyState title="No usage in this period">Calls appear here as soon as they are charged.</EmptyState>
      )}
      {data && steps && groups.length > 0 && (
        <section className="card stack" aria-label="Usage">
          <div className="usage-head">
            <MetricSwitch total={data.total} {...view} />
            <span className="soft small">
              per {data.step} ({data.zone}){' · '}drag over the chart to zoom in
            </span>
          </div>
          <Chart
            key={data.from + data.to}
            label={`${metricLabels[metric]} per ${data.step}`}
            kind={isLatency ? 'lines' : 'stack'}
            series={seriesOf(data, nameOf).slice(0, isLatency ? SHOWN_GROUPS : undefined)}
            steps={steps}
            step={data.step ?? 'day'}
            zone={data.zone ?? 'UTC'}
            format={formatOf(metric)}
            formatTick={metric === 'spend' ? usdTick : isLatency ? msTick : countTick}
            height={280}
            onZoom={(first, last) =>
              void navigate({ search: (before) => ({ ...before, ...zoomOf(steps, first, last) }) })
            }
          />
          {earlier.error && <p className="soft small">No previous period. {failedBy(earlier.error).message}</p>}
          {isLatency && groupCount > SHOWN_GROUPS && (
            <p className="soft small">
              The chart has the {SHOWN_GROUPS} groups with the most calls. The values of a column for all calls include
              the others.
            </p>
          )}
          <UsageTable
            head={groupingLabels[by]}
            groups={groups}
            nameOf={nameOf}
            showsLatency={showsLatency}
            hasOthers={!isLatency}
          />
          {groupCount > groups.length && (
            <p className="soft small">
              The table has {count(groups.length)} of {count(groupCount)} groups, those with the most {query.order}. The
              CSV file has all.
            </p>
          )}
        </section>
      )}
    </Screen>
  )
}

/** Options to read a report, in UTC if the days of the zone divide hours whose calls are no longer known. */
function readingUsage(params: ProjectScope, query: ReturnType<typeof usageQueryOf>) {
  const read = (asked: typeof query, signal: AbortSignal) =>
    ask('GET', PATH, { params, query: { ...asked, include: 'latency' }, signal })
  return queryOptions({
    queryKey: [PATH, params, query],
    queryFn: ({ signal }) =>
      read(query, signal).catch((error: unknown) => {
        if (query.zone === 'UTC' || failedBy(error).code !== 'usage_archived') throw error
        return read(inUtc(query), signal)
      }),
  })
}

/** Steps of the chart, with those of the period before once they are known. */
function stepsOf(report: UsageReport, metric: Metric, earlier: UsageReport | undefined) {
  if (isTiming(metric)) {
    const steps = timingSteps(report, metric)
    return earlier ? withTimingBefore(steps, earlier, metric) : steps
  }
  const steps = usageSteps(report, metric)
  return earlier ? withBefore(steps, earlier, metric) : steps
}

function formatOf(metric: Metric): (value: number) => string {
  if (isTiming(metric)) return durationText
  return metric === 'spend' ? usd : count
}

const metricLabels: Record<Metric, string> = {
  spend: 'Spend',
  calls: 'Calls',
  tokens: 'Tokens',
  errors: 'Errors',
  'latency-p50': 'Latency p50',
  'latency-p95': 'Latency p95',
  'first-token-p50': 'First token p50',
  'first-token-p95': 'First token p95',
}

/** Totals of the period, each a link that charts it. */
function MetricSwitch({ total, metric: chosen = 'spend' }: { total: UsageFigures } & UsageView) {
  const totalOf = (metric: Metric) => {
    if (isTiming(metric)) return durationText(timingOf[metric](total))
    return metric === 'spend' ? <Money micro={total.chargedMicro} /> : count(valueOf[metric](total))
  }
  return (
    <nav className="usage-metrics" aria-label="Metric">
      {metrics.map((metric) => (
        <Link
          key={metric}
          from="/projects/$tenant/$project/usage"
          search={(before) => ({ ...before, metric })}
          aria-current={metric === chosen}
          activeProps={{ 'aria-current': metric === chosen }}
          resetScroll={false}
        >
          <span className="soft small">{metricLabels[metric]}</span>
          <strong>{totalOf(metric)}</strong>
        </Link>
      ))}
    </nav>
  )
}

/** Names of the groups of a report, or their IDs if the user can't see the names. */
function useGroupNames(by: Grouping, rows: readonly { group: string | null }[]): NameOfGroup {
  const params = useScope()
  const nameOfKey = useKeyNames(by === 'key' ? rows.flatMap(({ group }) => group ?? []) : [])
  const nameOfUser = useMemberNames()
  const flows = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }),
    enabled: by === 'sandbox',
  })
  const names = new Map(flows.data?.map(({ id, name }) => [id, name]))
  return (group) => {
    if (group === null) return noneLabels[by]
    if (by === 'key') return nameOfKey(group)
    return by === 'user' ? nameOfUser(group) : (names.get(group) ?? group)
  }
}

/** Grouping and time range, kept in the URL. */
function UsageChoices({ by = 'model', range = 'month', from, to }: UsageView) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const set = (view: UsageView) => void navigate({ search: (before) => ({ ...before, ...view }) })
  const setRange = (chosen?: Range) =>
    void navigate({
      search: ({ from: _, to: __, ...before }) => ({ ...before, ...(chosen && { range: chosen }) }),
    })
  const isCustom = from !== undefined && to !== undefined
  return (
    <div className="chips" role="group" aria-label="Filters">
      <Select
        aria-label="Group by"
        value={by}
        options={groupings.map((each) => [each, `By ${groupingLabels[each].toLowerCase()}`] as const)}
        onChange={(grouping) => set({ by: grouping })}
      />
      <Select
        aria-label="Time"
        placeholder="Custom"
        value={isCustom ? null : range}
        options={(Object.keys(ranges) as Range[]).map((each) => [each, rangeLabels[each]] as const)}
        onChange={setRange}
      />
      <DateRange {...{ range, ...(isCustom && { from, to }) }} onChange={set} />
      {isCustom && (
        <FilterChip name="Range" value={`${shown(from)} – ${shown(to)}`} choices={[]} onChange={() => setRange()} />
      )}
    </div>
  )
}

/** First and last day of the period, in local time. */
function DateRange({ onChange, ...view }: UsageView & { onChange: (range: Zoom) => void }) {
  const { from, to } = periodOf(view, new Date())
  const [first, last] = [dateText(from), dateText(new Date(to.getTime() - 1))]
  const field = (label: string, value: string, rangeTo: (typed: string) => Zoom | null) => (
    <DateField
      label={label}
      value={value}
      onChange={(typed) => {
        const range = rangeTo(typed)
        if (range) onChange(range)
      }}
    />
  )
  return (
    <span className="date-range">
      {field('First day', first, (typed) => daysBetween(typed, typed > last ? typed : last))}
      <span className="soft" aria-hidden="true">
        –
      </span>
      {field('Last day', last, (typed) => daysBetween(typed < first ? typed : first, typed))}
    </span>
  )
}

/** Date field that keeps what is typed until it is left, because half a date is not a date yet. */
function DateField({ label, value, onChange }: { label: string; value: string; onChange: (typed: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <input
      type="date"
      aria-label={label}
      value={typed ?? value}
      max={dateText(new Date())}
      onChange={({ target }) => {
        setTyped(target.value)
        if (target.value !== '') onChange(target.value)
      }}
      onBlur={() => setTyped(null)}
    />
  )
}

const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function shown(time: string): string {
  return minute.format(new Date(time))
}

const groupingLabels: Record<Grouping, string> = {
  model: 'Model',
  key: 'Key',
  user: 'User',
  sandbox: 'Flow',
  tag: 'Tag',
}

/** Labels for calls without a group. */
const noneLabels: Record<Grouping, string> = {
  model: 'No model',
  key: 'Console users',
  user: 'No user',
  sandbox: 'Direct calls',
  tag: 'No tag',
}

const rangeLabels: Record<Range, string> = {
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
  quarter: 'Last 90 days',
  'this-month': 'This month',
  'last-month': 'Last month',
  year: 'Last 365 days',
}
