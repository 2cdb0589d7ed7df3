import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/list-states.tsx'
import { several } from '../components/usd.ts'

/**
 * Keys that stop working once a user can no longer create keys, because a key needs its creator's rights (rules §6.5).
 * @param projects limits the list to these projects; all projects of the organization if omitted
 */
export function StoppedKeys({ user, name, projects }: { user: string; name: string; projects?: readonly string[] }) {
  const { tenant } = useScope()
  const { data, error } = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { state: 'Active' } }),
  )
  if (error) return <RefusalBox error={error} />
  if (!data) return <Waiting what="keys" />
  const isThere = (project: string | null) => project !== null && (projects === undefined || projects.includes(project))
  const keys = data.filter((key) => key.createdBy === user && isThere(key.project))
  if (keys.length === 0) return <p>No keys stop working: {name} has no active keys here.</p>
  return (
    <>
      <p>
        {several(keys.length, 'key')} created by {name} will stop working: calls are refused with{' '}
        <code>key_issuer_denied</code> until {name} can create keys again.
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
