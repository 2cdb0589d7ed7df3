import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useChange } from '../api/use-change.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { useOrganization } from './use-organization.ts'

/** Whether the organization requires a second factor. For Admins. */
export function SecondFactorCard() {
  const { tenant } = useOrganization()
  const { data } = useQuery(readingAll('/api/v2/tenants', { params: {} }))
  /** What the open dialog changes: the answer may arrive here before the dialog has closed. */
  const [changing, setChanging] = useState<{ isRequired: boolean } | null>(null)
  const found = data?.find(({ id }) => id === tenant)
  if (!found) return null
  const { requireSecondFactor: isRequired } = found
  return (
    <section className="card stack" aria-label="Two-factor authentication">
      <div className="head">
        <h2>Two-factor authentication</h2>
        <button type="button" className="button" onClick={() => setChanging({ isRequired })}>
          {isRequired ? 'Stop requiring' : 'Require'}
        </button>
      </div>
      <p className="soft">
        {isRequired
          ? 'Members without a second factor are asked to set one up, and can do nothing else here.'
          : 'Members can sign in without a second factor.'}
      </p>
      {changing && <ChangeDialog {...changing} onClose={() => setChanging(null)} />}
    </section>
  )
}

function ChangeDialog({ isRequired, onClose }: { isRequired: boolean; onClose: () => void }) {
  const { tenant, name } = useOrganization()
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}', { params: { tenant }, body: { requireSecondFactor: !isRequired } }),
    isRequired ? 'Second factor no longer required.' : 'Second factor required.',
  )
  return (
    <FormDialog
      title={isRequired ? 'Stop requiring a second factor?' : 'Require a second factor?'}
      submit={isRequired ? 'Stop requiring' : 'Require second factor'}
      change={change}
      onClose={onClose}
    >
      <p>
        {isRequired
          ? `Members can use ${name} without a second factor again.`
          : `Members who signed in without a second factor, and their personal tokens, immediately lose access to ${name} until they set one up. API keys and service tokens don't change.`}
      </p>
    </FormDialog>
  )
}
