import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { CreateNamedDialog } from '../parts/create-named-dialog.tsx'

export function CreateTeamDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = usePlace()
  return (
    <CreateNamedDialog
      title="Create team"
      hint="You become its Team Owner."
      create={(body, idempotencyKey) =>
        ask('POST', '/api/v2/tenants/{tenant}/teams', { params: { tenant }, body, idempotencyKey })
      }
      said={(name) => `Team ${name} created.`}
      onClose={onClose}
    />
  )
}
