import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading, readingAll } from '../api/queries.ts'
import { useScope, useProjectName, useKeyNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { Money } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { groupSums, SHOWN_GROUPS, type GroupSum, type Zoom } from './usage-stacks.ts'
import { UsageChart } from './usage-chart.tsx'
import { usageQueryOf, type Grouping, groupings, ranges, type Range, type UsageView } from './usage-view.ts'
import { FilterChip } from '../components/filters.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/usage'
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Calls and charges over time and by group. */
export function UsageScreen() {
  const scope = useScope()
  const view = useSearch({ from: '/projects/$tenant/$project/usage' })
  const { by = 'model' } = view
  const query = usageQueryOf(view, new Date(), zone)
  const { data, error, isPending } = useQuery({
    ...reading(PATH, { params: scope, query }),
    placeholderData: keepPreviousData,
  })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const zoom = (part: Zoom) => void navigate({ search: (before) => ({ ...before, ...part }) })
  const nameOf = useGroupNames(by)
  const groups = groupSums(data?.data ?? [])
  const csv = `${PATH.replace('{tenant}', scope.tenant).replace('{project}', scope.project)}?${new URLSearchParams({ ...query, format: 'csv' })}`
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
      {data && groups.length > 0 && (
        <section className="card stack" aria-label="Usage">
          <p>
            <strong>
              <Money micro={data.totalMicro} />
            </strong>{' '}
            <span className="soft">
              per {data.step} ({data.zone})
            </span>
          </p>
          <UsageChart key={data.from + data.to} report={data} groups={groups} onZoom={zoom} />
          <UsageTable head={groupingLabels[by]} groups={groups} nameOf={nameOf} />
        </section>
      )}
    </Screen>
  )
}

/** Names of the groups of a report, or their IDs if the user can't see the names. */
function useGroupNames(by: Grouping): NameOfGroup {
  const params = useScope()
  const nameOfKey = useKeyNames()
  const flows = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }),
    enabled: by === 'sandbox',
  })
  const names = new Map(flows.data?.map(({ id, name }) => [id, name]))
  return (group) => {
    if (group === null) return noneLabels[by]
    return by === 'key' ? nameOfKey(group) : (names.get(group) ?? group)
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
  return (
    <div className="chips" role="group" aria-label="Filters">
      <select aria-label="Group by" value={by} onChange={({ target }) => set({ by: target.value as Grouping })}>
        {groupings.map((each) => (
          <option key={each} value={each}>
            By {groupingLabels[each].toLowerCase()}
          </option>
        ))}
      </select>
      <select aria-label="Time" value={range} onChange={({ target }) => setRange(target.value as Range)}>
        {(Object.keys(ranges) as Range[]).map((each) => (
          <option key={each} value={each}>
            {rangeLabels[each]}
          </option>
        ))}
      </select>
      {from !== undefined && to !== undefined && (
        <FilterChip name="Zoom" value={`${shown(from)} – ${shown(to)}`} choices={[]} onChange={() => setRange()} />
      )}
    </div>
  )
}

const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function shown(time: string): string {
  return minute.format(new Date(time))
}

const groupingLabels: Record<Grouping, string> = { model: 'Model', key: 'Key', sandbox: 'Flow' }

/** Labels for calls without a group. */
const noneLabels: Record<Grouping, string> = {
  model: 'No model',
  key: 'Console users',
  sandbox: 'Direct calls',
}

const rangeLabels: Record<Range, string> = {
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
  quarter: 'Last 91 days',
  year: 'Last 365 days',
}

/** Exact data of the chart. */
function UsageTable({ head, groups, nameOf }: { head: string; groups: GroupSum[]; nameOf: NameOfGroup }) {
  const places = new Map(groups.map(({ group }, n) => [group, Math.min(n, SHOWN_GROUPS)]))
  const columns: Column<GroupSum>[] = [
    {
      head,
      cell: ({ group }) => (
        <>
          <span className={`swatch series-${places.get(group)}`} aria-hidden="true" /> {nameOf(group)}
        </>
      ),
    },
    { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true, sortBy: ({ calls }) => calls },
    {
      head: 'Input tokens',
      cell: ({ promptTokens }) => count(promptTokens),
      isNumber: true,
      sortBy: ({ promptTokens }) => promptTokens,
    },
    {
      head: 'Output tokens',
      cell: ({ completionTokens }) => count(completionTokens),
      isNumber: true,
      sortBy: ({ completionTokens }) => completionTokens,
    },
    {
      head: 'Charged',
      cell: ({ chargedMicro }) => <Money micro={chargedMicro} />,
      isNumber: true,
      sortBy: ({ chargedMicro }) => chargedMicro,
    },
  ]
  return <DataTable caption="Usage by group" columns={columns} rows={groups} keyOf={({ group }) => group ?? ''} />
}

/** Name of a group; null stands for calls without a group. */
type NameOfGroup = (group: string | null) => string
