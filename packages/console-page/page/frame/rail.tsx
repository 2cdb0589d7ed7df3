import { Link } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import { Brand } from './brand.tsx'
import { OrganizationRail } from './organization-rail.tsx'
import { OperatorSection } from './operator-section.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { RailGroup, RailLabel } from './rail-group.tsx'
import { screenGroups } from './screens.ts'

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
