import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { Field } from '../components/field.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ProjectIdForm } from './project-id-form.tsx'

/**
 * Selects a wallet. Operators can list every organization, but only the projects of organizations they belong to; other
 * projects are selected by ID.
 */
export function WalletChoice({ tenant, project }: { tenant: string; project: string }) {
  const navigate = useNavigate({ from: '/operator/money' })
  const { data: tenants, error } = useQuery(readingAll('/api/v2/tenants', { params: {} }))
  const isMine = useMe().tenants.some(({ id }) => id === tenant)
  const projects = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }),
    enabled: isMine,
  })
  const choose = (id: string) => void navigate({ search: { tenant, ...(id !== '' && { project: id }) } })
  return (
    <section className="card stack" aria-label="Select wallet">
      <RefusalBox error={error ?? projects.error} />
      <div className="pair">
        <Field label="Organization">
          {(ids) => (
            <select
              {...ids}
              value={tenant}
              onChange={({ target }) => void navigate({ search: target.value === '' ? {} : { tenant: target.value } })}
            >
              <option value="">Select…</option>
              {(tenants ?? []).map(({ id, name }) => (
                <option key={id} value={id}>
                  {name} ({id})
                </option>
              ))}
            </select>
          )}
        </Field>
        {tenant !== '' && isMine && (
          <Field label="Project">
            {(ids) => (
              <select {...ids} value={project} onChange={({ target }) => choose(target.value)}>
                <option value="">Select…</option>
                {(projects.data ?? []).map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name} ({id})
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {tenant !== '' && !isMine && <ProjectIdForm key={project} project={project} onChoose={choose} />}
      </div>
    </section>
  )
}
