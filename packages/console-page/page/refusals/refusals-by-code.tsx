import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { count } from '../pure/usd.ts'
import type { RefusalGroup } from './refusal-groups.ts'
import { wordsOf } from './refusal-labels.ts'
import { RemedyButton } from './remedy-button.tsx'

/** Error codes with their meaning and fix, and a link to the fix if the console has one. */
export function RefusalsByCode({ groups }: { groups: RefusalGroup[] }) {
  const columns: Column<RefusalGroup>[] = [
    { head: 'Code', cell: ({ group }) => <CodeLink code={group} />, sortBy: ({ group }) => group },
    {
      head: 'Count',
      cell: ({ count: times }) => <Badge tone="warn" text={count(times)} />,
      sortBy: ({ count: times }) => times,
    },
    { head: 'Last seen', cell: (group) => <LastTime of={group} /> },
    { head: 'Meaning', cell: ({ group }) => wordsOf(group).meaning },
    { head: 'How to fix', cell: ({ group }) => <Fix code={group} /> },
  ]
  return <DataTable caption="Errors by code" columns={columns} rows={groups} keyOf={({ group }) => group} />
}

export function LastTime({ of: { lastAt, isToTheHour } }: { of: RefusalGroup }) {
  return (
    <>
      {isToTheHour && <span className="soft">in the hour starting </span>}
      <Moment iso={lastAt} to={isToTheHour ? 'minute' : 'second'} />
    </>
  )
}

/** Link to the documentation of an error code. */
export function CodeLink({ code }: { code: string }) {
  return (
    <a href={`/docs/refusals/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  )
}

function Fix({ code }: { code: string }) {
  const { fix, remedy } = wordsOf(code)
  return (
    <div className="clearing">
      <span id={`refusal-${code}`}>{fix}</span>
      {remedy && <RemedyButton remedy={remedy} code={code} />}
    </div>
  )
}
