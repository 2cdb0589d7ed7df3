import { useEffect, useRef, useState, type ComponentProps } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useKeyName, useScope, useProjectName, type ProjectScope, useProducts } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { DataList } from '../components/data-list.tsx'
import { EmptyState, Waiting, ShowMore, RefreshButton } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import type { InvocationRecord } from '@gateway/api/console/money'
import { callColumns, callCsvColumns, durationText, stateLabels, TimeChip } from './call-columns.tsx'
import { Select } from '../components/select.tsx'
import { count } from '../components/usd.ts'
import { SavedViews } from './views-menu.tsx'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { callQuery, type CallFilters, callStates, isExecutionId, isKeyId } from './call-filters.ts'
import { readingAll } from '../api/queries.ts'
import { useFilter, FilterChip } from '../components/filters.tsx'

export function CallsScreen() {
  const scope = useScope()
  const filters = useSearch({ from: '/projects/$tenant/$project/calls' })
  const [isLive, setLive] = useState(false)
  const calls = useCalls(scope, filters, isLive)
  const rows = calls.data?.pages.flatMap(({ data }) => data) ?? []
  const archivedBefore = calls.data?.pages.at(-1)?.archivedBefore
  // In order of cost, the first call is not the newest.
  const announcesNew = isLive && calls.data && !calls.isPlaceholderData && filters.order !== 'cost'
  const order = filters.order === 'cost' ? 'most expensive first' : 'newest first'
  return (
    <Screen
      title="Calls"
      of={useProjectName()}
      actions={
        <>
          <button type="button" className="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
            {isLive ? 'Live: on' : 'Live: off'}
          </button>
          {!isLive && <RefreshButton isLooking={calls.isFetching} onLook={() => void calls.refetch()} />}
        </>
      }
    >
      <RefusalBox error={calls.error} />
      {announcesNew && <NewCalls key={JSON.stringify(filters)} rows={rows} />}
      <DataList
        name="calls"
        caption={`Calls, ${order}`}
        columns={callColumns(scope)}
        rows={rows}
        keyOf={({ id }) => id}
        hasMore={calls.hasNextPage}
        csvColumns={callCsvColumns(scope)}
        filters={
          <>
            <IdSearch />
            <FilterChips filters={filters} />
            <LatencyLine filters={filters} />
          </>
        }
        empty={
          calls.data
            ? !calls.hasNextPage && (
                <NoCalls isFiltered={Object.keys(filters).length > 0} isArchived={archivedBefore !== undefined} />
              )
            : !calls.error && <Waiting what="calls" />
        }
      />
      <ShowMore list={calls} />
      {archivedBefore !== undefined && !calls.hasNextPage && (
        <p className="soft small">Calls before {archivedBefore} (UTC) are in the archive, not in this list.</p>
      )}
    </Screen>
  )
}

function NoCalls({ isFiltered, isArchived }: { isFiltered: boolean; isArchived: boolean }) {
  return isFiltered ? (
    <EmptyState title="No matching calls">Clear a filter.</EmptyState>
  ) : (
    <EmptyState title={isArchived ? 'No recent calls' : 'No calls yet'}>
      Calls appear with their cost as soon as they are admitted.
    </EmptyState>
  )
}

/** Opens the call with an ID, what a request made, or the calls of an execution or key. */
function IdSearch() {
  const params = useScope()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const id = typed.trim()
  return (
    <form
      role="search"
      className="with-button"
      onSubmit={(event) => {
        event.preventDefault()
        if (id === '') return
        if (isExecutionId(id))
          void navigate({ to: '/projects/$tenant/$project/calls', params, search: { execution: id } })
        else if (isKeyId(id)) void navigate({ to: '/projects/$tenant/$project/calls', params, search: { key: id } })
        else void navigate({ to: '/projects/$tenant/$project/calls/$call', params: { ...params, call: id } })
      }}
    >
      <input
        type="search"
        aria-label="Call, request, execution or key ID"
        placeholder="Find by ID"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <button type="submit" className="button small" disabled={id === ''}>
        Open
      </button>
    </form>
  )
}

/** Says politely how many calls have come in since the last look. */
function NewCalls({ rows }: { rows: readonly InvocationRecord[] }) {
  const newest = rows[0]?.id
  const known = useRef(newest)
  const [text, setText] = useState('')
  useEffect(() => {
    if (newest === known.current) return
    const place = rows.findIndex(({ id }) => id === known.current)
    known.current = newest
    const added = place === -1 ? rows.length : place
    setText(`${added} new ${added === 1 ? 'call' : 'calls'}`)
  }, [newest, rows])
  return (
    <p role="status" className="visually-hidden">
      {text}
    </p>
  )
}

/** Percentiles of the calls that match the filters. */
function LatencyLine({ filters: { order: _, ...filters } }: { filters: CallFilters }) {
  const params = useScope()
  const { data } = useQuery({
    queryKey: [PATH, 'latency', params, filters],
    queryFn: ({ signal }) =>
      ask('GET', PATH, { params, query: { ...callQuery(filters, new Date()), limit: 1, include: 'latency' }, signal }),
    placeholderData: keepPreviousData,
  })
  const { latency } = data ?? {}
  if (!latency || latency.calls === 0) return null
  const pair = (p50: number | null, p95: number | null) => `p50 ${durationText(p50)}, p95 ${durationText(p95)}`
  return (
    <p className="soft small calls-latency">
      Latency {pair(latency.latencyP50Ms, latency.latencyP95Ms)}
      {latency.firstTokenP50Ms !== null && ` · first token ${pair(latency.firstTokenP50Ms, latency.firstTokenP95Ms)}`}
      {' · '}
      {count(latency.calls)} most recent charged {latency.calls === 1 ? 'call' : 'calls'}
    </p>
  )
}

const LIVE_MS = 2_000
const PAGE = 50
const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations'

/** Calls of a project, newest first, page by page. Keeps the current rows while loading. */
function useCalls(params: ProjectScope, filters: CallFilters, isLive: boolean) {
  return useInfiniteQuery({
    queryKey: [PATH, params, filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...callQuery(filters, new Date()), limit: PAGE, ...(pageParam && { cursor: pageParam }) }
      return ask('GET', PATH, { params, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: isLive && LIVE_MS, // pauses while the tab is hidden
  })
}

/** Filter by key, whose choices are read when it opens: a project may have thousands of keys. */
function KeyFilter({ value, onChange }: Pick<ComponentProps<typeof FilterChip>, 'value' | 'onChange'>) {
  const { tenant, project } = useScope()
  const [isOpened, setOpened] = useState(false)
  const chosen = useKeyName(value ?? null)
  const { data } = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
    enabled: isOpened,
  })
  const choices =
    value === undefined ? (data ?? []).map(({ id, name }) => [id, name] as const) : [[value, chosen ?? value] as const]
  return <FilterChip name="Key" value={value} choices={choices} onOpen={() => setOpened(true)} onChange={onChange} />
}

/** Filters of the list, kept in the URL. */
function FilterChips({ filters }: { filters: CallFilters }) {
  const { products } = useProducts()
  const set = useFilter<CallFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <KeyFilter value={filters.key} onChange={set('key')} />
      <FilterChip
        name="Model"
        value={filters.model}
        choices={products.map(({ id, name }) => [id, name])}
        onChange={set('model')}
      />
      <FilterChip
        name="State"
        value={filters.state}
        choices={callStates.map((state) => [state, stateLabels[state]])}
        onChange={set('state')}
      />
      <TimeChip value={filters.since} more={[['yesterday', 'yesterday']]} onChange={set('since')} />
      <Select
        aria-label="Order"
        value={filters.order ?? 'time'}
        options={[
          ['time', 'Newest first'],
          ['cost', 'Most expensive first'],
        ]}
        onChange={(order) => set('order')(order === 'cost' ? order : undefined)}
      />
      <SavedViews filters={filters} />
      {filters.execution !== undefined && (
        <FilterChip name="Execution" value={filters.execution} choices={[]} onChange={set('execution')} />
      )}
    </div>
  )
}
