import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { Moment } from '../components/moment.tsx'
import { endsWithin } from '../pure/pace.ts'
import { several } from '../pure/usd.ts'

const SOON_DAYS = 14

/** Active keys that expire within two weeks. */
export function EndingKeys() {
  const scope = useScope()
  const { tenant, project } = scope
  const { data = [] } = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
  )
  const ending = data.filter(
    ({ state, expiresAt }) => state === 'Active' && endsWithin(SOON_DAYS, expiresAt, new Date()),
  )
  if (ending.length === 0) return null
  return (
    <section className="notice line" aria-label="Keys expiring soon">
      <div>
        <strong>{several(ending.length, 'key')} expiring within two weeks</strong>
        <ul>
          {ending.map(({ id, name, expiresAt }) => (
            <li key={id}>
              {name}: <Moment iso={expiresAt!} />
            </li>
          ))}
        </ul>
      </div>
      <Link className="button small" to="/projects/$tenant/$project/keys" params={scope}>
        Rotate keys
      </Link>
    </section>
  )
}
