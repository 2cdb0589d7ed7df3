import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { CreateNamedDialog } from '../components/create-named-dialog.tsx'

export function CreateTeamDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = useScope()
  return (
    <CreateNamedDialog
      title="Create team"
      hint="You become its Team Owner."
      create={(body, idempotencyKey) =>
        ask('POST', '/api/v2/tenants/{tenant}/teams', { params: { tenant }, body, idempotencyKey })
      }
      announcement={(name) => `Team ${name} created.`}
      onClose={onClose}
    />
  )
}
