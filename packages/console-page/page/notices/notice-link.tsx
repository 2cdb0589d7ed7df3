import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import { announceQuietly } from '../frame/announcer.ts'
import { Icon } from '../components/icon.tsx'
import { several } from '../pure/usd.ts'
import { useNotices } from './use-notices.ts'

/** Slow polling, because the link is on every screen. */
const EVERY_MS = 30_000

/** Link to the alerts of a project with the number of open ones. Announces an increase. */
export function NoticeLink() {
  const scope = useScope()
  const { open } = useNotices(EVERY_MS)
  const before = useRef<{ project: string; count: number } | null>(null)
  const count = open?.length ?? null
  useEffect(() => {
    if (count === null) return
    if (before.current?.project === scope.project && count > before.current.count)
      announceQuietly(`${several(count, 'open alert')}.`)
    before.current = { project: scope.project, count }
  }, [count, scope.project])
  if (scope.project === '') return null
  const isOpen = count !== null && count > 0
  return (
    <Link to="/projects/$tenant/$project/notices" params={scope} className="button quiet notice-link">
      <Icon name="notices" />
      {isOpen && <span aria-hidden="true">{count}</span>}
      <span className="visually-hidden">{isOpen ? `Alerts, ${count} open` : 'Alerts'}</span>
    </Link>
  )
}
