import { useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { PersonName } from './person-name.tsx'
import { hasOwner, lackForKeys, reasonsFor, type ProjectAccess } from './project-access.ts'
import { RowButtons } from './row-buttons.tsx'
import { WithdrawDialog } from './withdraw-dialog.tsx'

/** People with access to the project, with actions for users who can manage it. */
export function PeopleTable({
  people,
  teamName,
  mayGrant,
}: {
  people: ProjectAccess[]
  teamName: string
  mayGrant: boolean
}) {
  const [chosen, setChosen] = useState<{ act: 'Change role' | 'Remove access'; person: ProjectAccess } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<ProjectAccess>[] = [
    { head: 'Person', cell: (person) => <PersonName of={person} /> },
    { head: 'Role', cell: ({ grant }) => grant ?? <span className="soft">None</span> },
    { head: 'Granted by', cell: (person) => reasonsFor(person, teamName).join(', ') },
    { head: 'Can create keys', cell: (person) => <CanCreateKeys lack={lackForKeys(person, teamName)} /> },
    ...(mayGrant ? [{ head: 'Actions', cell: actionsOf }] : []),
  ]
  function actionsOf(person: ProjectAccess) {
    const acts = person.grant === null ? [] : (['Change role', 'Remove access'] as const)
    return <RowButtons acts={acts} of={`for ${person.name}`} onChoose={(act) => setChosen({ act, person })} />
  }
  const others = people.filter(({ id }) => id !== chosen?.person.id)
  return (
    <>
      <DataTable caption="People" columns={columns} rows={people} keyOf={({ id }) => id} />
      {chosen?.act === 'Change role' && (
        <GrantDialog of={chosen.person} people={people} teamName={teamName} isAppointing={false} onClose={onClose} />
      )}
      {chosen?.act === 'Remove access' && (
        <WithdrawDialog of={chosen.person} isLastOwner={!hasOwner(others)} teamName={teamName} onClose={onClose} />
      )}
    </>
  )
}

function CanCreateKeys({ lack }: { lack: string | null }) {
  if (lack === null) return <Badge tone="good" text="Yes" />
  return (
    <>
      <Badge tone="plain" text="No" /> <span className="soft small">needs {lack}</span>
    </>
  )
}
