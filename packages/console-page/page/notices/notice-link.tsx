import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import { usePlace } from '../api/use-project.ts'
import { announce } from '../frame/announcer.ts'
import { Icon } from '../parts/icon.tsx'
import { several } from '../pure/usd.ts'
import { useNotices } from './use-notices.ts'

/** On every screen, so at a calm pace. */
const EVERY_MS = 30_000

/** How many notices of the project are open, wherever one is in it; more of them are said. */
export function NoticeLink() {
  const place = usePlace()
  const { open } = useNotices(EVERY_MS)
  const before = useRef<{ project: string; count: number } | null>(null)
  const count = open?.length ?? null
  useEffect(() => {
    if (count === null) return
    if (before.current?.project === place.project && count > before.current.count)
      announce(`${several(count, 'notice')} open.`)
    before.current = { project: place.project, count }
  }, [count, place.project])
  if (place.project === '') return null
  const isOpen = count !== null && count > 0
  return (
    <Link to="/projects/$tenant/$project/notices" params={place} className="button quiet notice-link">
      <Icon name="notices" />
      {isOpen && <span aria-hidden="true">{count}</span>}
      <span className="visually-hidden">{isOpen ? `Notices, ${count} open` : 'Notices'}</span>
    </Link>
  )
}
