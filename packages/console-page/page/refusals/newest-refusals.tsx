import { useKeyNames } from '../api/session.ts'
import { CopyButton } from '../components/copying.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import type { LatestRefusal } from './refusal-groups.ts'
import { CodeLink } from './refusals-by-code.tsx'

/** Individual errors, newest first, with the request ID to look up in the logs. @param ofKey all are of one key */
export function NewestRefusals({ rows, ofKey = false }: { rows: LatestRefusal[]; ofKey?: boolean }) {
  const nameOf = useKeyNames(rows.map(({ key }) => key))
  const columns: Column<LatestRefusal>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    ...(ofKey ? [] : [{ head: 'Key', cell: ({ key }: LatestRefusal) => nameOf(key) }]),
    { head: 'Model', cell: ({ model }) => (model === null ? '–' : <code>{model}</code>) },
    {
      head: 'Error',
      cell: ({ status, code }) => (
        <>
          {status} <CodeLink code={code} />
        </>
      ),
    },
    {
      head: 'Request',
      cell: ({ requestId }) => (
        <>
          <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" isSmall />
        </>
      ),
    },
  ]
  return <DataTable caption="Most recent errors" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
}
