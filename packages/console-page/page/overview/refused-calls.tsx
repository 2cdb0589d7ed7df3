import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { LatestRefusals } from '@gateway/api/console/refusals'
import { reading } from '../api/queries.ts'
import { useKeyNames, useScope } from '../api/session.ts'
import { CopyButton } from '../components/copying.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import { several } from '../components/usd.ts'

type LatestRefusal = LatestRefusals['data'][number]
const SHOWN = 5
const EVERY_MS = 5_000

/** Refused calls of the last 24 hours by code, and the latest ones. Hidden if there are none. */
export function RefusedCalls() {
  const params = useScope()
  const counts = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/refusals', { params }),
    refetchInterval: EVERY_MS,
  })
  const latest = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/refusals/recent', { params }),
    refetchInterval: EVERY_MS,
  })
  const rows = (latest.data?.data ?? []).slice(0, SHOWN)
  const nameOf = useKeyNames(rows.map(({ key }) => key))
  if (!counts.data || counts.data.total === 0) return null
  const columns: Column<LatestRefusal>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    { head: 'Key', cell: ({ key }) => nameOf(key) },
    { head: 'Model', cell: ({ model }) => (model === null ? '–' : <code>{model}</code>) },
    { head: 'Error', cell: ({ status, code }) => `${status} ${code}` },
    {
      head: 'Request',
      cell: ({ requestId }) => (
        <>
          <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" isSmall />
        </>
      ),
    },
  ]
  return (
    <section className="stack" aria-label="Refused calls">
      <div className="head">
        <h2>{several(counts.data.total, 'refused call')} in the last 24 hours</h2>
        <Link to="/projects/$tenant/$project/refusals" params={params}>
          How to fix
        </Link>
      </div>
      <p className="chips">
        {[...countsOf(counts.data.data)].map(([code, count]) => (
          <span key={code} className="badge warn">
            {code} {count}
          </span>
        ))}
      </p>
      <DataTable caption="Latest errors" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
    </section>
  )
}

/** Number of refusals by code, summed over all hours. */
function countsOf(rows: { group: string; count: number }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { group, count } of rows) counts.set(group, (counts.get(group) ?? 0) + count)
  return counts
}
