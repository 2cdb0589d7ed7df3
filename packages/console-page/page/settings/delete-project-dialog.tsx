import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { reading, readingAll, useChange } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { Money } from '../components/values.tsx'
import { several } from '../components/usd.ts'
import { FormDialog } from '../components/dialog.tsx'

/** Confirms deleting a project and lists what is lost. */
export function DeleteProjectDialog({
  of: { id: project, name },
  onDeleted,
  onClose,
}: {
  of: { id: string; name: string }
  /** Leaves a screen of the project, before what it shows is read again. */
  onDeleted?: () => Promise<void>
  onClose: () => void
}) {
  const { tenant } = useScope()
  const params = { tenant, project }
  const keys = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project, state: 'Active' } }),
  )
  // Fails for an Admin without a grant.
  const wallet = useQuery(reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params }))
  const remove = useChange(async () => {
    await ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}', { params })
    await onDeleted?.()
  }, `Project ${name} deleted.`)
  return (
    <FormDialog title={`Delete project ${name}?`} submit="Delete project" isDanger change={remove} onClose={onClose}>
      <p>This can't be undone. You permanently lose:</p>
      <ul className="rules">
        <li>{keys.data ? several(keys.data.length, 'active key') : 'its keys'}: all further calls are refused</li>
        <li>its flows with all revisions, its service tokens and all roles on it</li>
        <li>
          its remaining wallet balance
          {wallet.data && (
            <>
              , <Money micro={wallet.data.availableMicro} />
            </>
          )}
          , which stays in the ledger but can't be spent
        </li>
      </ul>
      <p className="soft">Charges stay in the ledger, and the audit log is kept.</p>
    </FormDialog>
  )
}
