import { Link } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'

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
    <div>
      <p className="rail-head" id="rail-operator">
        Operator
      </p>
      <ul aria-labelledby="rail-operator">
        {screens.map(({ to, title, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ includeSearch: false }}>
              <Icon name={icon} />
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
