import { useNavigate } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/session.ts'
import { CreateNamedDialog } from '../components/dialog.tsx'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Creates an empty flow and opens its editor. */
export function CreateFlowDialog({ onClose }: { onClose: () => void }) {
  const params = useScope()
  const navigate = useNavigate()
  return (
    <CreateNamedDialog
      title="Create flow"
      create={(body, idempotencyKey) => ask('POST', PATH, { params, body, idempotencyKey })}
      announcement={(name) => `Flow ${name} created.`}
      paths={[PATH]}
      onDone={({ id }) => {
        onClose()
        void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...params, sandbox: id } })
      }}
      onClose={onClose}
    />
  )
}
