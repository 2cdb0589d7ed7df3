import { Link } from '@tanstack/react-router'
import { usePlace } from '../../api/use-project.ts'

/** What is tried: models, or flows. */
export function PlaygroundTabs({ isFlow }: { isFlow: boolean }) {
  const at = { to: '/projects/$tenant/$project/playground', params: usePlace(), activeProps: {} } as const
  return (
    <nav className="buttons" aria-label="What is tried">
      <Link {...at} className="button small" search={({ flow: _, ...others }) => others} aria-current={!isFlow}>
        Models
      </Link>
      <Link {...at} className="button small" search={(before) => ({ flow: '', ...before })} aria-current={isFlow}>
        Flows
      </Link>
    </nav>
  )
}
