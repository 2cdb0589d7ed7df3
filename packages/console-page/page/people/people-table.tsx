import { useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { PersonName } from './person-name.tsx'
import { hasOwner, lackForKeys, reasonsFor, type ProjectAccess } from './project-access.ts'
import { RowButtons } from './row-buttons.tsx'
import { WithdrawDialog } from './withdraw-dialog.tsx'

/** Who sees the project, with which role and why; with what can be done, for those who may. */
export function PeopleTable({
  people,
  teamName,
  mayGrant,
}: {
  people: ProjectAccess[]
  teamName: string
  mayGrant: boolean
}) {
  const [chosen, setChosen] = useState<{ act: 'Change' | 'Withdraw'; person: ProjectAccess } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<ProjectAccess>[] = [
    { head: 'Person', cell: (person) => <PersonName of={person} /> },
    { head: 'Role here', cell: ({ grant }) => grant ?? <span className="soft">none</span> },
    { head: 'Because of', cell: (person) => reasonsFor(person, teamName).join(', ') },
    { head: 'Makes keys', cell: (person) => <MakesKeys lack={lackForKeys(person, teamName)} /> },
    ...(mayGrant ? [{ head: 'Actions', cell: actionsOf }] : []),
  ]
  function actionsOf(person: ProjectAccess) {
    const acts = person.grant === null ? [] : (['Change', 'Withdraw'] as const)
    return <RowButtons acts={acts} of={`the role of ${person.name}`} onChoose={(act) => setChosen({ act, person })} />
  }
  const others = people.filter(({ id }) => id !== chosen?.person.id)
  return (
    <>
      <DataTable caption="People" columns={columns} rows={people} keyOf={({ id }) => id} />
      {chosen?.act === 'Change' && (
        <GrantDialog of={chosen.person} people={people} teamName={teamName} isAppointing={false} onClose={onClose} />
      )}
      {chosen?.act === 'Withdraw' && (
        <WithdrawDialog of={chosen.person} isLastOwner={!hasOwner(others)} teamName={teamName} onClose={onClose} />
      )}
    </>
  )
}

function MakesKeys({ lack }: { lack: string | null }) {
  if (lack === null) return <Badge tone="good" text="yes" />
  return (
    <>
      <Badge tone="plain" text="no" /> <span className="soft small">needs {lack}</span>
    </>
  )
}
