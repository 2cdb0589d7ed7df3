import { useKeyNames } from '../api/use-names.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../pure/usd.ts'
import type { RefusalGroup } from './refusal-groups.ts'
import { LastTime } from './refusals-by-code.tsx'

/** Number of errors by key. */
export function RefusalsByKey({ groups }: { groups: RefusalGroup[] }) {
  const nameOf = useKeyNames()
  const columns: Column<RefusalGroup>[] = [
    { head: 'Key', cell: ({ group }) => nameOf(group), sortBy: ({ group }) => nameOf(group) },
    { head: 'Count', cell: ({ count: times }) => count(times), isNumber: true, sortBy: ({ count: times }) => times },
    { head: 'Last seen', cell: (group) => <LastTime of={group} /> },
  ]
  return <DataTable caption="Errors by key" columns={columns} rows={groups} keyOf={({ group }) => group} />
}
