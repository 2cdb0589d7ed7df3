import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Confirms unassigning a product and lists the affected keys. */
export function UnassignDialog({ product, name, onClose }: { product: string; name: string; onClose: () => void }) {
  const { tenant, project } = useScope()
  const projectName = useProjectName()
  const keys = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project, state: 'Active' } }),
  )
  const only = (keys.data ?? []).filter(({ policy, resources }) => policy === 'listed' && resources.includes(product))
  const unassign = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/assignments/{product}', {
        params: { tenant, project, product },
      }),
    `${name} unassigned from ${projectName}.`,
  )
  return (
    <FormDialog
      title={`Unassign ${name} from ${projectName}?`}
      submit="Unassign product"
      isDanger
      change={unassign}
      onClose={onClose}
    >
      <p>
        New calls from {projectName} to <code>{product}</code> are refused for all its keys, and its flows that use the
        product fail. Other products aren't affected.
      </p>
      {only.length > 0 && (
        <p className="notice">
          These keys are limited to selected products, including this one: {only.map((key) => key.name).join(', ')}.
        </p>
      )}
    </FormDialog>
  )
}
