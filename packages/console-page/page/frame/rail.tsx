import { Link } from '@tanstack/react-router'
import { useScope, useProjectName, useMe } from '../api/session.ts'
import { Brand } from './open-page.tsx'
import { screenGroups } from './screens.ts'
import { useId, type ComponentProps, type ReactNode } from 'react'
import { Icon, type IconName } from '../components/icon.tsx'
import { loadedLater } from '../components/loaded-later.tsx'

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
  { to: '/operator/providers', title: 'Providers', icon: 'provider' },
  { to: '/operator/wallets', title: 'Wallets', icon: 'wallet' },
  { to: '/operator/revenue', title: 'Revenue', icon: 'usage' },
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
  { to: '/organizations/$tenant/budgets', title: 'Budgets', icon: 'wallet', isForAdmins: true },
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

/** Names the current project. Opens the list of all projects. */
const ProjectSwitcher = loadedLater(
  async () => (await import('./menus.tsx')).ProjectSwitcher,
  () => <SwitcherButton disabled />,
)

export function SwitcherButton(button: ComponentProps<'button'>) {
  const { tenant, project } = useScope()
  const name = useProjectName()
  const { tenants } = useMe()
  return (
    <button type="button" {...button} className="switcher">
      <span className="switcher-mark" aria-hidden="true">
        {(project === '' ? '?' : name).slice(0, 1).toUpperCase()}
      </span>
      <span className="rail-text">
        {project === '' ? 'Choose a project' : name}
        <small>{tenants.find(({ id }) => id === tenant)?.name ?? 'all organizations'}</small>
      </span>
      <Icon name="updown" />
    </button>
  )
}
