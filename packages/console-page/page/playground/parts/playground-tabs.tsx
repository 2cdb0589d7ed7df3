import { Link } from '@tanstack/react-router'
import { usePlace } from '../../api/use-project.ts'

/** What is tried: models, or flows. The one that is shown is the current page. */
export function PlaygroundTabs() {
  const at = {
    to: '/projects/$tenant/$project/playground',
    params: usePlace(),
    className: 'button small',
    activeOptions: { exact: true, includeSearch: true },
  } as const
  return (
    <nav className="buttons playground-tabs" aria-label="What is tried">
      <Link {...at} search={({ flow: _, ...others }) => others}>
        Models
      </Link>
      <Link {...at} search={(before) => ({ flow: '', ...before })}>
        Flows
      </Link>
    </nav>
  )
}
