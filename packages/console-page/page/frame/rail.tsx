import { Link } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import { Icon } from '../components/icon.tsx'
import { OrganizationRail } from './organization-rail.tsx'
import { OperatorSection } from './operator-section.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { screens } from './screens.ts'

/** Left rail with the current project and its screens. */
export function Rail({ isOpen }: { isOpen: boolean }) {
  const { tenant, project } = useScope()
  return (
    <nav className="rail" id="rail" aria-label="Console" data-open={isOpen || undefined}>
      <Link to="/" className="brand">
        <Icon name="calls" />
        Console
      </Link>
      <ProjectSwitcher />
      {project !== '' && (
        <ul>
          {screens.map(({ to, title, icon, isExact }) => (
            <li key={to}>
              <Link to={to} params={{ tenant, project }} activeOptions={{ exact: isExact, includeSearch: false }}>
                <Icon name={icon} />
                {title}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <OrganizationRail />
      <OperatorSection />
    </nav>
  )
}
