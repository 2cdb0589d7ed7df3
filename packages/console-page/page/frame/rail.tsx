import { Link } from '@tanstack/react-router'
import { useScope, useProjectName, useMe } from '../api/session.ts'
import { Brand } from './open-page.tsx'
import { screenGroups } from './screens.ts'
import { useId, type ReactNode, useState } from 'react'
import { Icon, type IconName } from '../components/icon.tsx'
import { useQueries } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'
import { PopupMenu } from './popup-menu.tsx'

interface Props {
  /** On a small screen, where it covers the content. */
  isOpen: boolean
  isNarrow: boolean
  onNarrow: (isNarrow: boolean) => void
}

/** Left rail with the current project and its screens. */
export function Rail({ isOpen, isNarrow, onNarrow }: Props) {
  const { tenant, project } = useScope()
  return (
    <nav className="rail" id="rail" aria-label="Console" data-open={isOpen || undefined}>
      <Link to="/" className="brand" title="Model Gateway">
        <Brand />
      </Link>
      <ProjectSwitcher />
      <div className="rail-scroll">
        {project !== '' &&
          screenGroups.map(({ title, screens }) => (
            <RailGroup key={screens[0].to} title={title}>
              {screens.map(({ to, title: name, icon, isExact }) => (
                <li key={to}>
                  <Link to={to} params={{ tenant, project }} activeOptions={{ exact: isExact, includeSearch: false }}>
                    <RailLabel icon={icon} name={name} />
                  </Link>
                </li>
              ))}
            </RailGroup>
          ))}
        <OrganizationRail />
        <OperatorSection />
      </div>
      <button
        type="button"
        className="rail-collapse"
        aria-expanded={!isNarrow}
        aria-controls="rail"
        onClick={() => onNarrow(!isNarrow)}
      >
        <RailLabel icon={isNarrow ? 'expand' : 'collapse'} name={isNarrow ? 'Expand' : 'Collapse'} />
      </button>
    </nav>
  )
}

const screens = [
  { to: '/operator/products', title: 'Products', icon: 'models' },
  { to: '/operator/money', title: 'Money', icon: 'wallet' },
  { to: '/operator/organizations', title: 'Organizations', icon: 'account' },
  { to: '/operator/users', title: 'Users', icon: 'users' },
  { to: '/operator/audit', title: 'Audit log', icon: 'audit' },
] as const

/** Rail section for platform operators, hidden from other users. */
function OperatorSection() {
  const { platformOperator } = useMe()
  if (!platformOperator) return null
  return (
    <div className="rail-apart">
      <RailGroup title="Operator">
        {screens.map(({ to, title, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ includeSearch: false }}>
              <RailLabel icon={icon} name={title} />
            </Link>
          </li>
        ))}
      </RailGroup>
    </div>
  )
}

/** Screens that the user can open in the URL's organization or, without one in the URL, in their only organization. */
function OrganizationRail() {
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

/** Screens of an organization, in rail order. */
const organizationScreens = [
  { to: '/organizations/$tenant/members', title: 'Members', icon: 'users', isForAdmins: false },
  { to: '/organizations/$tenant/teams', title: 'Teams', icon: 'teams', isForAdmins: false },
  { to: '/organizations/$tenant/projects', title: 'Projects', icon: 'overview', isForAdmins: false },
  { to: '/organizations/$tenant/audit', title: 'Audit log', icon: 'audit', isForAdmins: true },
  { to: '/organizations/$tenant/tokens', title: 'Service tokens', icon: 'tokens', isForAdmins: true },
  { to: '/organizations/$tenant/webhooks', title: 'Webhooks', icon: 'notices', isForAdmins: true },
] as const

/** Links of the rail under a heading; null: without one. */
function RailGroup({ title, children }: { title: string | null; children: ReactNode }) {
  const heading = useId()
  return (
    <div className="rail-group">
      {title !== null && (
        <p className="rail-head" id={heading}>
          {title}
        </p>
      )}
      <ul {...(title !== null && { 'aria-labelledby': heading })}>{children}</ul>
    </div>
  )
}

/** Icon and name of a link. A narrow rail shows the icon, and the name on hover. */
function RailLabel({ icon, name }: { icon: IconName; name: string }) {
  return (
    <span className="rail-label" title={name}>
      <Icon name={icon} />
      <span className="rail-text">{name}</span>
    </span>
  )
}

/** Shows the current project and switches to another one, with a search. */
function ProjectSwitcher() {
  const { tenant, project } = useScope()
  const name = useProjectName()
  const { tenants } = useMe()
  const [sought, setSought] = useState('')
  const lists = useQueries({
    queries: tenants.map(({ id }) => readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } })),
  })
  const fits = (text: string) => text.toLowerCase().includes(sought.trim().toLowerCase())
  const label = (
    <>
      <span className="switcher-mark" aria-hidden="true">
        {(project === '' ? '?' : name).slice(0, 1).toUpperCase()}
      </span>
      <span className="rail-text">
        {project === '' ? 'Choose a project' : name}
        <small>{tenants.find(({ id }) => id === tenant)?.name ?? 'all organizations'}</small>
      </span>
      <Icon name="down" />
    </>
  )
  return (
    <PopupMenu className="switcher" label={label}>
      <input
        type="search"
        aria-label="Search projects"
        placeholder="Search projects"
        value={sought}
        onChange={({ target }) => setSought(target.value)}
      />
      {tenants.map((each, n) => (
        <div key={each.id}>
          <h3>{each.name}</h3>
          {(lists[n]?.data ?? [])
            .filter((one) => fits(one.name))
            .map((one) => (
              <Link
                key={one.id}
                to="/projects/$tenant/$project"
                params={{ tenant: each.id, project: one.id }}
                activeProps={{ 'aria-current': 'true' }}
              >
                {one.name}
              </Link>
            ))}
        </div>
      ))}
    </PopupMenu>
  )
}
