import { FormDialog } from '../parts/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import type { ShownToken, TokenPlace } from './token-place.ts'

export function DeleteTokenDialog({
  token: { id, name, prefix, permissions },
  of,
  onClose,
}: {
  token: ShownToken
  of: TokenPlace
  onClose: () => void
}) {
  const remove = useChange(() => of.remove(id), `The token ${name} is deleted.`)
  return (
    <FormDialog
      title={`Delete the token ${name}?`}
      submit="Delete it"
      cancel="Keep it"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        Whatever sends <code>{prefix}…</code> is refused from the next call on, for ever
        {permissions?.includes('sandboxes.use') && ', and so are the further calls of executions that it began'}.
      </p>
    </FormDialog>
  )
}
