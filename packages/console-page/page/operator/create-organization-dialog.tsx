import { ask } from '../api/ask.ts'
import { CreateNamedDialog } from '../parts/create-named-dialog.tsx'

export function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  return (
    <CreateNamedDialog
      title="Create an organization"
      hint="You become its first Admin, and may add others."
      create={(body, idempotencyKey) => ask('POST', '/api/v2/tenants', { params: {}, body, idempotencyKey })}
      said={(name) => `The organization ${name} is there. You are its first Admin.`}
      paths={['/api/v2/tenants', '/api/v2/me']}
      onClose={onClose}
    />
  )
}
