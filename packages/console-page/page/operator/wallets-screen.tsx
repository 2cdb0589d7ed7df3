import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { WalletRow, WalletSort } from '@gateway/api/console/platform-money'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { useFilter } from '../components/filters.tsx'
import { EmptyState, ShowMore, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { runwayText } from '../overview/use-spending.ts'
import { Badge, Money } from '../components/values.tsx'
import { inUsd, several } from '../components/usd.ts'
import { OperatorScreen } from './operator-screen.tsx'
import type { WalletsView } from './operator-views.ts'
import './operator.css'

/** Wallets of all projects, sorted and searched by the service. */
export function WalletsScreen() {
  const view = useSearch({ from: '/operator/wallets' })
  const wallets = useWallets(view)
  const columns = useColumns(view)
  return (
    <OperatorScreen title="Wallets">
      <RefusalBox error={wallets.error} />
      <DataList
        name="wallets"
        caption="Wallets"
        columns={columns}
        rows={wallets.data?.pages.flatMap(({ data }) => data) ?? []}
        keyOf={({ project }) => project}
        hasMore={wallets.hasNextPage}
        filters={<WalletSearch {...view} />}
        empty={
          wallets.data ? (
            view.q === undefined ? (
              <EmptyState title="No wallets yet">
                Each project has a wallet, from which its calls are charged.
              </EmptyState>
            ) : (
              <EmptyState title="No matching wallets">Search for another organization or project.</EmptyState>
            )
          ) : (
            !wallets.error && <Waiting what="wallets" />
          )
        }
      />
      <ShowMore list={wallets} />
    </OperatorScreen>
  )
}

const PAGE = 50

function useWallets({ q, column: sort = 'organization', order = 'asc' }: WalletsView) {
  return useInfiniteQuery({
    queryKey: ['/api/v2/wallets', q, sort, order],
    enabled: useMe().platformOperator,
    queryFn: ({ pageParam, signal }) => {
      const query = { sort, order, limit: PAGE, ...(q && { q }), ...(pageParam && { cursor: pageParam }) }
      return ask('GET', '/api/v2/wallets', { params: {}, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}

function WalletSearch({ q = '' }: WalletsView) {
  const [typed, setTyped] = useState(q) // the URL updates asynchronously
  const set = useFilter<WalletsView>()
  return (
    <input
      type="search"
      aria-label="Search wallets"
      placeholder="Organization or project"
      value={typed}
      onChange={({ target: { value } }) => {
        setTyped(value)
        set('q', { isTyped: true })(value)
      }}
    />
  )
}

/** First order of a column: what needs attention comes first. */
const firstOrders: Record<WalletSort, 'asc' | 'desc'> = {
  organization: 'asc',
  project: 'asc',
  balance: 'asc',
  available: 'asc',
  reserved: 'desc',
  spend: 'desc',
  runway: 'asc',
  alerts: 'desc',
}

function useColumns({ column = 'organization', order = 'asc' }: WalletsView): Column<WalletRow>[] {
  const navigate = useNavigate({ from: '/operator/wallets' })
  const served = (by: WalletSort) => ({
    order: by === column ? order : null,
    onToggle() {
      const opposite = order === 'asc' ? 'desc' : 'asc'
      const next = { column: by, order: by === column ? opposite : firstOrders[by] } as const
      void navigate({ search: (before) => ({ ...before, ...next }), resetScroll: false })
    },
  })
  const amount = (head: string, by: WalletSort, of: (row: WalletRow) => number): Column<WalletRow> => ({
    head,
    isNumber: true,
    served: served(by),
    csv: (row) => inUsd(of(row)),
    cell: (row) => <Money micro={of(row)} />,
  })
  return [
    {
      head: 'Project',
      served: served('project'),
      csv: ({ project }) => project,
      cell: ({ tenant, project, projectName }) => (
        <>
          <Link to="/operator/money" search={{ tenant, project }}>
            {projectName}
          </Link>
          <div className="soft small">
            <code>{project}</code>
          </div>
        </>
      ),
    },
    {
      head: 'Organization',
      served: served('organization'),
      csv: ({ tenantName }) => tenantName,
      cell: ({ tenantName }) => tenantName,
    },
    amount('Balance', 'balance', ({ balanceMicro }) => balanceMicro),
    amount('Available', 'available', ({ availableMicro }) => availableMicro),
    amount('Reserved', 'reserved', ({ reservedMicro }) => reservedMicro),
    amount('Spend (30 days)', 'spend', ({ spendMicro }) => spendMicro),
    {
      head: 'Runway',
      isNumber: true,
      served: served('runway'),
      csv: ({ runwayDays }) => runwayDays,
      cell: ({ runwayDays }) =>
        runwayDays !== null && runwayDays < SHORT_DAYS ? (
          <Badge tone={runwayDays === 0 ? 'bad' : 'warn'} text={runwayText(runwayDays)} />
        ) : (
          <span className={runwayDays === null ? 'soft' : undefined}>{runwayText(runwayDays)}</span>
        ),
    },
    {
      head: 'Alerts',
      isNumber: true,
      served: served('alerts'),
      csv: ({ alerts }) => alerts,
      cell: ({ alerts }) =>
        alerts === 0 ? <span className="soft">None</span> : <Badge tone="warn" text={several(alerts, 'alert')} />,
    },
  ]
}

/** Runway from which a wallet stands out. */
const SHORT_DAYS = 7
