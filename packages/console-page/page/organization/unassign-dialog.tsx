import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Takes a product away from the project, and says before which calls are refused from then on. */
export function UnassignDialog({ product, name, onClose }: { product: string; name: string; onClose: () => void }) {
  const { tenant, project } = usePlace()
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
    `${projectName} may not use ${name} any more.`,
  )
  return (
    <FormDialog
      title={`Withdraw ${name} from ${projectName}?`}
      submit="Withdraw it"
      cancel="Keep it"
      isDanger
      change={unassign}
      onClose={onClose}
    >
      <p>
        From the next call on every call of {projectName} to <code>{product}</code> is refused, with each of its keys,
        and flows that use it fail there. Other products are called as before.
      </p>
      {only.length > 0 && (
        <p className="notice">
          These keys name it as something they may call: {only.map((key) => key.name).join(', ')}.
        </p>
      )}
    </FormDialog>
  )
}
