import { useQuery } from '@tanstack/react-query'
import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { several } from '../pure/usd.ts'
import { useChange } from '../api/use-change.ts'
import { readingAffectedProjects, type AffectedProject } from './affected-projects.ts'

/** Confirms suspending a product and lists the affected projects. */
export function SuspendDialog({ of: { id, name }, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { data, error } = useQuery(readingAffectedProjects(id, useMe().tenants))
  const suspend = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'suspended' } }),
    `${name} suspended.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog title={`Suspend ${name}?`} submit="Suspend product" isDanger change={suspend} onClose={onClose}>
      <p>
        New calls to <code>{id}</code>, and flows that use it, are refused in all organizations. Calls in progress
        finish and are charged. Assignments are kept and take effect again once you republish it.
      </p>
      {!data && !error && <Waiting what="affected projects" />}
      <RefusalBox error={error} />
      {data && <AffectedProjects projects={data} />}
    </FormDialog>
  )
}

function AffectedProjects({ projects }: { projects: AffectedProject[] }) {
  return (
    <div className="notice">
      {projects.length === 0 ? (
        <p>No project in your organizations uses it.</p>
      ) : (
        <>
          <p>Used in your organizations by:</p>
          <ul>
            {projects.map((project) => (
              <li key={project.id}>
                <strong>{project.name}</strong>
                {project.keys !== null && `, ${several(project.keys, 'active key')}`}
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="small">Projects in other organizations are affected too, but aren't shown to operators.</p>
    </div>
  )
}
