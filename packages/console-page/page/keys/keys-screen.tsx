import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { KeyTable } from './key-table.tsx'
import { LegacyKeys } from './legacy-keys.tsx'

export function KeysScreen() {
  const { tenant, project } = useScope()
  const { ended, create } = useSearch({ from: '/projects/$tenant/$project/keys' })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/keys' })
  const { data, error, isPending } = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
  )
  const showCreate = (isOpen: boolean) =>
    void navigate({ search: ({ create: _, ...others }) => ({ ...others, ...(isOpen && { create: true as const }) }) })
  const showEnded = (isShown: boolean) =>
    void navigate({ search: ({ ended: _, ...others }) => ({ ...others, ...(isShown && { ended: true as const }) }) })
  const createButton = (
    <button type="button" className="button main" onClick={() => showCreate(true)}>
      Create key
    </button>
  )
  const shown = (data ?? []).filter(({ state }) => ended || state === 'Active').toReversed()
  return (
    <Screen title="API keys" of={useProjectName()} actions={createButton}>
      <LegacyKeys />
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="keys" />}
      {data?.length === 0 && (
        <EmptyState title="No keys you can manage" action={createButton}>
          A key makes calls for this project and can't be moved to another one. Create one to make your first call.
        </EmptyState>
      )}
      {shown.length > 0 && <KeyTable keys={shown} />}
      {data && data.length > 0 && (
        <label className="choice soft">
          <input type="checkbox" checked={ended ?? false} onChange={({ target }) => showEnded(target.checked)} />
          Show revoked and expired
        </label>
      )}
      {create && <CreateKeyDialog onClose={() => showCreate(false)} />}
    </Screen>
  )
}
