import { Link } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { useScope } from '../api/use-project.ts'
import { RailGroup, RailLabel } from './rail-group.tsx'
import { organizationScreens } from './organization-screens.ts'

/** Screens that the user can open in the URL's organization or, without one in the URL, in their only organization. */
export function OrganizationRail() {
  const { tenant: named } = useScope()
  const { tenants } = useMe()
  const tenant = named || (tenants.length === 1 ? tenants[0]!.id : '')
  const mine = tenants.find(({ id }) => id === tenant)
  if (!mine) return null
  return (
    <div className="rail-apart">
      <RailGroup title={mine.name}>
        {organizationScreens
          .filter(({ isForAdmins }) => !isForAdmins || mine.role === 'Admin')
          .map(({ to, title, icon }) => (
            <li key={to}>
              <Link to={to} params={{ tenant }} activeOptions={{ includeSearch: false }}>
                <RailLabel icon={icon} name={title} />
              </Link>
            </li>
          ))}
      </RailGroup>
    </div>
  )
}
