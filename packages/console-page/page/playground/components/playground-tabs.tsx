import { Link } from '@tanstack/react-router'
import { useScope } from '../../api/use-project.ts'

/** Switches between models and flows. */
export function PlaygroundTabs() {
  const at = {
    to: '/projects/$tenant/$project/playground',
    params: useScope(),
    className: 'button small',
    activeOptions: { exact: true, includeSearch: true },
  } as const
  return (
    <nav className="buttons playground-tabs" aria-label="Playground mode">
      <Link {...at} search={({ flow: _, ...others }) => others}>
        Models
      </Link>
      <Link {...at} search={(before) => ({ flow: '', ...before })}>
        Flows
      </Link>
    </nav>
  )
}
