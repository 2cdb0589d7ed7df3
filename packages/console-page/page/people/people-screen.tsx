import { useState } from 'react'
import { useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { PeopleTable } from './people-table.tsx'
import { hasOwner } from './project-access.ts'
import { useProjectPeople } from './use-project-people.ts'
import { useMyRoles } from './use-my-roles.ts'

/** People with access to a project, their role and its source. */
export function PeopleScreen() {
  const { isAdmin, isOwner } = useMyRoles()
  const { people, team, error } = useProjectPeople()
  const [isGranting, setGranting] = useState(false)
  const isOrphan = people !== undefined && !hasOwner(people)
  const isAppointing = !isOwner && isAdmin && isOrphan
  const button = (
    <button type="button" className="button main" onClick={() => setGranting(true)}>
      {isAppointing ? 'Appoint owner' : 'Add person'}
    </button>
  )
  return (
    <Screen title="People" of={useProjectName()} actions={isOwner || isAppointing ? button : undefined}>
      <RefusalBox error={error} />
      {!people && !error && <Waiting what="people" />}
      {people && (
        <>
          {isOrphan && (
            <p className="notice">
              This project has no owner, so no one can manage its access.{' '}
              {isAdmin ? 'Appoint one.' : 'Ask an Admin of the organization to appoint one.'}
            </p>
          )}
          {!isOwner && !isAppointing && <p className="soft">Only a Project Owner can manage access.</p>}
          <PeopleTable people={people} teamName={team.name} mayGrant={isOwner} />
        </>
      )}
      {isGranting && people && (
        <GrantDialog
          of={null}
          people={people}
          teamName={team.name}
          isAppointing={isAppointing}
          onClose={() => setGranting(false)}
        />
      )}
    </Screen>
  )
}
