import { FormDialog } from '../components/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import type { ShownToken, TokenScope } from './token-scope.ts'

export function DeleteTokenDialog({
  token: { id, name, prefix, permissions },
  of,
  onClose,
}: {
  token: ShownToken
  of: TokenScope
  onClose: () => void
}) {
  const remove = useChange(() => of.remove(id), `Token ${name} deleted.`)
  return (
    <FormDialog title={`Delete token ${name}?`} submit="Delete token" isDanger change={remove} onClose={onClose}>
      <p>
        All further requests with <code>{prefix}…</code> are refused
        {permissions?.includes('sandboxes.use') && ', including further calls of executions it started'}. This can't be
        undone.
      </p>
    </FormDialog>
  )
}
