import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { AppointmentRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { Moment } from '../components/values.tsx'

/** Owners who are to be, for former owners and Admins, who may object. */
export function Appointments({ project }: { project?: string }) {
  const { data = [] } = useQuery(readingAll('/api/v2/me/appointments', { params: {} }))
  const [chosen, setChosen] = useState<AppointmentRecord | null>(null)
  const shown = data.filter((each) => project === undefined || each.project === project)
  return (
    <>
      {shown.map((each) => (
        <Appointment key={each.project} of={each} onChoose={() => setChosen(each)} />
      ))}
      {chosen && <ObjectDialog of={chosen} onClose={() => setChosen(null)} />}
    </>
  )
}

function Appointment({ of, onChoose }: { of: AppointmentRecord; onChoose: () => void }) {
  const { id } = useMe()
  const { projectName, tenantName, userName, appointedByName, effectiveAt, objectedBy } = of
  if (objectedBy !== null)
    return (
      <p className="notice">
        The appointment of {userName} as owner of {projectName} ({tenantName}) was objected to. Ask the platform
        operator to appoint an owner.
      </p>
    )
  return (
    <div className="notice stack">
      <p>
        {appointedByName} appointed {userName} as owner of {projectName} ({tenantName}). It takes effect{' '}
        <Moment iso={effectiveAt} />.
      </p>
      <div className="buttons">
        <button type="button" className="button small" onClick={onChoose}>
          {of.appointedBy === id ? 'Cancel appointment' : 'Object'}
        </button>
      </div>
    </div>
  )
}

function ObjectDialog({ of, onClose }: { of: AppointmentRecord; onClose: () => void }) {
  const { id } = useMe()
  const isMine = of.appointedBy === id
  const object = useChange(
    () => ask('DELETE', '/api/v2/me/appointments/{project}', { params: { project: of.project } }),
    isMine ? 'Appointment canceled.' : 'Objection recorded.',
  )
  return (
    <FormDialog
      cancel={isMine ? 'Keep appointment' : 'Cancel'}
      title={isMine ? 'Cancel appointment?' : `Object to ${of.userName} as owner?`}
      submit={isMine ? 'Cancel appointment' : 'Object'}
      isDanger
      change={object}
      onClose={onClose}
    >
      <p>
        {of.userName} does not become the owner of {of.projectName}.{' '}
        {isMine
          ? 'A new appointment takes as long again.'
          : 'After an objection only the platform operator can appoint an owner.'}
      </p>
    </FormDialog>
  )
}
