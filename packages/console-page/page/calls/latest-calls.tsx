import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { DataTable } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { callColumns } from './call-columns.tsx'

const SHOWN = 5
const EVERY_MS = 5_000

/** The latest calls of the project or of one of its keys or models, polled. */
export function useLatestCalls(of: Of = {}) {
  const asked = { params: useScope(), query: { limit: SHOWN, ...of } }
  return useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/invocations', asked),
    refetchInterval: EVERY_MS,
  })
}

interface Of {
  key?: string
  model?: string
}

/** Latest calls of the project or of one of its keys or models, polled. Hidden if there are none. */
export function LatestCalls({ of = {} }: { of?: Of }) {
  const scope = useScope()
  const { data, error } = useLatestCalls(of)
  const columns = callColumns(scope).filter(({ head }) => of.key === undefined || head !== 'Key')
  if (data?.data.length === 0) return null
  return (
    <section className="stack" aria-label="Latest calls">
      <div className="head">
        <h2>Latest calls</h2>
        <Link to="/projects/$tenant/$project/calls" params={scope} search={of}>
          All calls
        </Link>
      </div>
      <RefusalBox error={error} />
      {data && <DataTable caption="Latest calls" columns={columns} rows={data.data} keyOf={({ id }) => id} />}
    </section>
  )
}
