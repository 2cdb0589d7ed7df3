import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import { usePlace } from '../api/use-project.ts'
import { announce } from '../frame/announcer.ts'
import { Icon } from '../parts/icon.tsx'
import { several } from '../pure/usd.ts'
import { useNotices } from './use-notices.ts'

/** How many notices of the project are open, wherever one is in it; more of them are said. */
export function NoticeLink() {
  const place = usePlace()
  const { notices, open } = useNotices()
  const before = useRef<{ project: string; count: number } | null>(null)
  const count = notices ? open.size : null
  useEffect(() => {
    if (count === null) return
    if (before.current?.project === place.project && count > before.current.count)
      announce(`${several(count, 'notice')} open.`)
    before.current = { project: place.project, count }
  }, [count, place.project])
  if (place.project === '') return null
  return (
    <Link to="/projects/$tenant/$project/notices" params={place} className="button quiet notice-link">
      <Icon name="notices" />
      {open.size > 0 && <span aria-hidden="true">{open.size}</span>}
      <span className="visually-hidden">{open.size > 0 ? `Notices, ${open.size} open` : 'Notices'}</span>
    </Link>
  )
}
