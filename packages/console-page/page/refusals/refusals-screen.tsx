import { useSearch } from '@tanstack/react-router'
import { useProjectName, useScope, useKeyNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { RefusalsByCode, LastTime, NewestRefusals } from './refusals-by-code.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { reading } from '../api/queries.ts'
import { refusalGroups, type RefusalGroup } from './refusal-groups.ts'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { spans, type Days, type RefusalView } from './refusal-view.ts'
import { Select } from '../components/select.tsx'

/** Errors of the last days, and how to fix them. */
export function RefusalsScreen() {
  const view = useSearch({ from: '/projects/$tenant/$project/refusals' })
  const { isPending, error, total, codes, keys, latest } = useRefusals(view.days ?? 1)
  const { code, key } = view
  const shown = latest.filter((each) => (!code || each.code === code) && (!key || each.key === key))
  // The API counts by code or by key. A combined filter applies to the most recent errors only.
  const byCode = key ? [] : codes.filter(({ group }) => !code || group === code)
  const byKey = code ? [] : keys.filter(({ group }) => !key || group === key)
  return (
    <Screen title="Errors" of={useProjectName()}>
      <RefusalFilters view={view} codes={codes} keys={keys} />
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="errors" />}
      {total === 0 && (
        <EmptyState title="No errors in this period">
          Refused calls cost nothing and appear here within seconds.
        </EmptyState>
      )}
      {byCode.length > 0 && (
        <section className="stack" aria-label="By code">
          <h2>By code</h2>
          <RefusalsByCode groups={byCode} />
        </section>
      )}
      {byKey.length > 0 && (
        <section className="stack" aria-label="By key">
          <h2>By key</h2>
          <RefusalsByKey groups={byKey} />
        </section>
      )}
      {shown.length > 0 && (
        <section className="stack" aria-label="Most recent">
          <h2>Most recent</h2>
          <NewestRefusals rows={shown} />
        </section>
      )}
      {total !== undefined && total > 0 && shown.length === 0 && (
        <p className="soft">No matches among the 100 most recent errors.</p>
      )}
    </Screen>
  )
}

/** Number of errors by key. */
function RefusalsByKey({ groups }: { groups: RefusalGroup[] }) {
  const nameOf = useKeyNames(groups.map(({ group }) => group))
  const columns: Column<RefusalGroup>[] = [
    { head: 'Key', cell: ({ group }) => nameOf(group), sortBy: ({ group }) => nameOf(group) },
    { head: 'Count', cell: ({ count: times }) => count(times), isNumber: true, sortBy: ({ count: times }) => times },
    { head: 'Last seen', cell: (group) => <LastTime of={group} /> },
  ]
  return <DataTable caption="Errors by key" columns={columns} rows={groups} keyOf={({ group }) => group} isLong />
}

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/refusals'
const EVERY_MS = 5_000
const HOUR_MS = 3_600_000

/** Errors of the last days by code and by key, and the 100 most recent, polled. */
function useRefusals(days: Days) {
  const params = useScope()
  const [codes, keys] = [useCounts('code', days), useCounts('key', days)]
  const latest = useQuery({ ...reading(`${PATH}/recent`, { params }), refetchInterval: EVERY_MS })
  const rows = latest.data?.data ?? []
  return {
    isPending: codes.isPending || latest.isPending,
    error: codes.error ?? keys.error ?? latest.error,
    total: codes.data?.total,
    codes: codes.data ? refusalGroups(codes.data, rows) : [],
    keys: keys.data ? refusalGroups(keys.data, rows) : [],
    latest: rows,
  }
}

/** Counts over whole hours, so that the query key changes only once an hour. */
function useCounts(by: 'code' | 'key', days: Days) {
  const to = Math.ceil((Date.now() + 1) / HOUR_MS) * HOUR_MS
  const period = { from: new Date(to - days * 24 * HOUR_MS).toISOString(), to: new Date(to).toISOString() }
  return useQuery({
    ...reading(PATH, { params: useScope(), query: { by, step: 'none', ...period } }),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
}

const words: Record<Days, string> = { 1: 'Last 24 hours', 7: 'Last 7 days', 31: 'Last 31 days' }

/** Period, code and key filters, kept in the URL. */
function RefusalFilters({
  view: { days = 1, code, key },
  codes,
  keys,
}: {
  view: RefusalView
  codes: RefusalGroup[]
  keys: RefusalGroup[]
}) {
  const nameOf = useKeyNames(keys.map(({ group }) => group))
  const set = useFilter<RefusalView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <Select
        aria-label="Time"
        value={days}
        options={spans.map((span) => [span, words[span]])}
        onChange={(chosen) => set('days')(chosen)}
      />
      <FilterChip name="Code" value={code} choices={codes.map(({ group }) => [group, group])} onChange={set('code')} />
      <FilterChip
        name="Key"
        value={key}
        choices={keys.map(({ group }) => [group, nameOf(group)])}
        onChange={set('key')}
      />
    </div>
  )
}
