import { useNavigate } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { CreateNamedDialog } from '../parts/create-named-dialog.tsx'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Makes an empty flow, and opens its editor. */
export function CreateFlowDialog({ onClose }: { onClose: () => void }) {
  const params = usePlace()
  const navigate = useNavigate()
  return (
    <CreateNamedDialog
      title="Create a flow"
      create={(body, idempotencyKey) => ask('POST', PATH, { params, body, idempotencyKey })}
      said={(name) => `The flow ${name} is there.`}
      paths={[PATH]}
      onDone={({ id }) => {
        onClose()
        void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...params, sandbox: id } })
      }}
      onClose={onClose}
    />
  )
}
