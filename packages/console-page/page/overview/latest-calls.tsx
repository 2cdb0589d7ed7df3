import { Link } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import { callColumns } from '../calls/call-columns.tsx'
import { DataTable } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useLatestCalls } from './use-latest-calls.ts'

/** Latest calls, polled. */
export function LatestCalls() {
  const scope = useScope()
  const { data, error } = useLatestCalls()
  if (data?.data.length === 0) return null
  return (
    <section className="stack" aria-label="Latest calls">
      <div className="head">
        <h2>Latest calls</h2>
        <Link to="/projects/$tenant/$project/calls" params={scope}>
          All calls
        </Link>
      </div>
      <RefusalBox error={error} />
      {data && (
        <DataTable caption="Latest calls" columns={callColumns(scope)} rows={data.data} keyOf={({ id }) => id} />
      )}
    </section>
  )
}
