import { Link } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { RailGroup, RailLabel } from './rail-group.tsx'

const screens = [
  { to: '/operator/products', title: 'Products', icon: 'models' },
  { to: '/operator/money', title: 'Money', icon: 'wallet' },
  { to: '/operator/organizations', title: 'Organizations', icon: 'account' },
  { to: '/operator/users', title: 'Users', icon: 'users' },
  { to: '/operator/audit', title: 'Audit log', icon: 'audit' },
] as const

/** Rail section for platform operators, hidden from other users. */
export function OperatorSection() {
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
