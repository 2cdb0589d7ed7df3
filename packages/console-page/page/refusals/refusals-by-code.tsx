import { Badge } from '../parts/badge.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { count } from '../pure/usd.ts'
import type { RefusalGroup } from './refusal-groups.ts'
import { wordsOf } from './refusal-words.ts'
import { RemedyButton } from './remedy-button.tsx'

/** Each code with what it says and what clears it, and a way there where the console has one. */
export function RefusalsByCode({ groups }: { groups: RefusalGroup[] }) {
  const columns: Column<RefusalGroup>[] = [
    { head: 'Code', cell: ({ group }) => <CodeLink code={group} /> },
    { head: 'Times', cell: ({ count: times }) => <Badge tone="warn" text={count(times)} /> },
    { head: 'Last', cell: (group) => <LastTime of={group} /> },
    { head: 'What it says', cell: ({ group }) => wordsOf(group).said },
    { head: 'What clears it', cell: ({ group }) => <Clearing code={group} /> },
  ]
  return <DataTable caption="Refused, by code" columns={columns} rows={groups} keyOf={({ group }) => group} />
}

export function LastTime({ of: { lastAt, isToTheHour } }: { of: RefusalGroup }) {
  return (
    <>
      {isToTheHour && <span className="soft">in the hour from </span>}
      <Moment iso={lastAt} to={isToTheHour ? 'minute' : 'second'} />
    </>
  )
}

/** To the page of the documentation that is about it. */
export function CodeLink({ code }: { code: string }) {
  return (
    <a href={`/docs/refusals/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  )
}

function Clearing({ code }: { code: string }) {
  const { clears, remedy } = wordsOf(code)
  return (
    <div className="clearing">
      <span id={`refusal-${code}`}>{clears}</span>
      {remedy && <RemedyButton remedy={remedy} code={code} />}
    </div>
  )
}
