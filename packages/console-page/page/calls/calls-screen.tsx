import { useState } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useScope, useProjectName, type ProjectScope, useProducts } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { DataList } from '../components/data-list.tsx'
import { EmptyState, Waiting, ShowMore, RefreshButton } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { callColumns, stateLabels } from './call-columns.tsx'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { callQuery, type CallFilters, callStates, isExecutionId } from './call-filters.ts'
import { readingAll } from '../api/queries.ts'
import { useFilter, FilterChip } from '../components/filters.tsx'
import { TimeChip } from './time-chip.tsx'

export function CallsScreen() {
  const scope = useScope()
  const filters = useSearch({ from: '/projects/$tenant/$project/calls' })
  const [isLive, setLive] = useState(false)
  const calls = useCalls(scope, filters, isLive)
  const rows = calls.data?.pages.flatMap(({ data }) => data) ?? []
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
      <DataList
        name="calls"
        caption="Calls, newest first"
        columns={callColumns(scope)}
        rows={rows}
        keyOf={({ id }) => id}
        filters={
          <>
            <IdSearch />
            <FilterChips filters={filters} />
          </>
        }
        empty={
          calls.data
            ? !calls.hasNextPage && <NoCalls isFiltered={Object.keys(filters).length > 0} />
            : !calls.error && <Waiting what="calls" />
        }
      />
      <ShowMore list={calls} />
    </Screen>
  )
}

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No matching calls">Clear a filter.</EmptyState>
  ) : (
    <EmptyState title="No calls yet">Calls appear with their cost as soon as they are admitted.</EmptyState>
  )
}

/** Opens the call with an ID, or the calls of an execution. */
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
        else void navigate({ to: '/projects/$tenant/$project/calls/$call', params: { ...params, call: id } })
      }}
    >
      <input
        type="search"
        aria-label="Call or execution ID"
        placeholder="Call or execution ID"
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

/** Filters of the list, kept in the URL. */
function FilterChips({ filters }: { filters: CallFilters }) {
  const { tenant, project } = useScope()
  const { products } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const set = useFilter<CallFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="Key"
        value={filters.key}
        choices={(keys.data ?? []).map(({ id, name }) => [id, name])}
        onChange={set('key')}
      />
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
      <TimeChip value={filters.since} onChange={set('since')} />
      {filters.execution !== undefined && (
        <FilterChip name="Execution" value={filters.execution} choices={[]} onChange={set('execution')} />
      )}
    </div>
  )
}
