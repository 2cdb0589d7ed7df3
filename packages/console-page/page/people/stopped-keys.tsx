import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { Moment } from '../parts/moment.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { several } from '../pure/usd.ts'

/**
 * Which keys stop working once a person may not make them any more: a key works for as long as its creator may (rules §6.5). In
 * one project, in some, or in all of the organization.
 */
export function StoppedKeys({
  person,
  name,
  projects,
}: {
  person: string
  name: string
  projects?: readonly string[]
}) {
  const { tenant } = usePlace()
  const { data, error } = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { state: 'Active' } }),
  )
  if (error) return <RefusalBox error={error} />
  if (!data) return <Waiting what="keys" />
  const isThere = (project: string | null) => project !== null && (projects === undefined || projects.includes(project))
  const keys = data.filter((key) => key.createdBy === person && isThere(key.project))
  if (keys.length === 0) return <p>No key stops working: {name} has made none that works here.</p>
  return (
    <>
      <p>
        {several(keys.length, 'key')} that {name} made {keys.length === 1 ? 'stops' : 'stop'} working: from the next
        call on {keys.length === 1 ? 'it is' : 'each is'} refused as <code>key_issuer_denied</code>, until they may make
        keys again.
      </p>
      <ul className="rules" aria-label="Keys that stop working">
        {keys.map((key) => (
          <li key={key.id}>
            {key.name} <code className="soft">{key.prefix}…</code>{' '}
            <span className="soft small">
              {key.lastUsedAt ? (
                <>
                  last used <Moment iso={key.lastUsedAt} />
                </>
              ) : (
                'never used'
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
