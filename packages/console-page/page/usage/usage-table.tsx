import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/money.tsx'
import { SHOWN_GROUPS, type GroupSum } from '../pure/usage-stacks.ts'
import { count } from '../pure/usd.ts'

/** Exact data of the chart. */
export function UsageTable({ head, groups, nameOf }: { head: string; groups: GroupSum[]; nameOf: NameOfGroup }) {
  const places = new Map(groups.map(({ group }, n) => [group, Math.min(n, SHOWN_GROUPS)]))
  const columns: Column<GroupSum>[] = [
    {
      head,
      cell: ({ group }) => (
        <>
          <span className={`swatch series-${places.get(group)}`} aria-hidden="true" /> {nameOf(group)}
        </>
      ),
    },
    { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true, sortBy: ({ calls }) => calls },
    {
      head: 'Input tokens',
      cell: ({ promptTokens }) => count(promptTokens),
      isNumber: true,
      sortBy: ({ promptTokens }) => promptTokens,
    },
    {
      head: 'Output tokens',
      cell: ({ completionTokens }) => count(completionTokens),
      isNumber: true,
      sortBy: ({ completionTokens }) => completionTokens,
    },
    {
      head: 'Charged',
      cell: ({ chargedMicro }) => <Money micro={chargedMicro} />,
      isNumber: true,
      sortBy: ({ chargedMicro }) => chargedMicro,
    },
  ]
  return <DataTable caption="Usage by group" columns={columns} rows={groups} keyOf={({ group }) => group ?? ''} />
}

/** Name of a group; null stands for calls without a group. */
export type NameOfGroup = (group: string | null) => string
