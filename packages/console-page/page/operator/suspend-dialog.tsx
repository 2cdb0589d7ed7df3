import { useQuery } from '@tanstack/react-query'
import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { several } from '../pure/usd.ts'
import { useChange } from '../api/use-change.ts'
import { readingWhatStops, type ProjectThatStops } from './what-stops.ts'

/** Says what stops before it does. */
export function SuspendDialog({ of: { id, name }, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { data, error } = useQuery(readingWhatStops(id, useMe().tenants))
  const suspend = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'suspended' } }),
    `${name} is suspended.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog
      title={`Suspend ${name}?`}
      submit="Suspend it"
      cancel="Keep it published"
      isDanger
      change={suspend}
      onClose={onClose}
    >
      <p>
        Every call of <code>{id}</code> is refused from the next one on, and so is every flow that calls it, in all
        organizations. Calls under way end and are charged. Assignments stay: once it is published again, calls go on.
      </p>
      {!data && !error && <Waiting what="what uses it" />}
      <RefusalBox error={error} />
      {data && <WhatStops projects={data} />}
    </FormDialog>
  )
}

function WhatStops({ projects }: { projects: ProjectThatStops[] }) {
  return (
    <div className="notice">
      {projects.length === 0 ? (
        <p>No project of your own organizations uses it.</p>
      ) : (
        <>
          <p>In your own organizations {projects.length === 1 ? 'this project uses' : 'these projects use'} it:</p>
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
      <p className="small">Projects of other organizations are not shown to an operator, and stop as well.</p>
    </div>
  )
}
