import { useKeyNames } from '../api/use-names.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import type { LatestRefusal } from './refusal-groups.ts'
import { CodeLink } from './refusals-by-code.tsx'

/** Single refusals, newest first, with the id by which one is found in logs. */
export function NewestRefusals({ rows }: { rows: LatestRefusal[] }) {
  const nameOf = useKeyNames()
  const columns: Column<LatestRefusal>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    { head: 'Key', cell: ({ key }) => nameOf(key) },
    { head: 'Model', cell: ({ model }) => (model === null ? '–' : <code>{model}</code>) },
    {
      head: 'Refused with',
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
          <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request id" isSmall />
        </>
      ),
    },
  ]
  return <DataTable caption="The newest refusals" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
}
