import { ask } from '../api/ask.ts'
import { CreateNamedDialog } from '../components/create-named-dialog.tsx'

export function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  return (
    <CreateNamedDialog
      title="Create organization"
      hint="You become its first Admin and can add others."
      create={(body, idempotencyKey) => ask('POST', '/api/v2/tenants', { params: {}, body, idempotencyKey })}
      announcement={(name) => `Organization ${name} created. You are its first Admin.`}
      paths={['/api/v2/tenants', '/api/v2/me']}
      onClose={onClose}
    />
  )
}
