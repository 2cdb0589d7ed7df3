import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import { useScope } from '../api/session.ts'
import { announceQuietly } from '../frame/announcer.ts'
import { Icon } from '../components/icon.tsx'
import { several } from '../components/usd.ts'
import { useQuery } from '@tanstack/react-query'
import { reading, useChange } from '../api/queries.ts'

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

/** Number of alerts shown, newest first. */
export const SHOWN_NOTICES = 100

/** The latest alerts, and the open ones among them. @param everyMs polling interval while the page is visible */
export function useNotices(everyMs: number) {
  const params = useScope()
  const { data, error } = useQuery({
    ...reading(NOTICES, { params, query: { limit: SHOWN_NOTICES } }),
    refetchInterval: everyMs,
    enabled: params.project !== '',
  })
  const notices = data?.data
  return { notices, hasMore: data ? data.nextCursor !== null : false, open: notices?.filter(({ open }) => open), error }
}

const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'
export const NOTICES = `${PROJECT}/notices` as const
export const THRESHOLDS = `${PROJECT}/notices/thresholds` as const
export const WEBHOOKS = `${PROJECT}/webhooks` as const
export const WEBHOOK = `${PROJECT}/webhooks/{webhook}` as const
export const ROTATE_WEBHOOK = `${WEBHOOK}/rotate` as const
export const TEST_WEBHOOK = `${WEBHOOK}/test` as const
export const DELIVERIES = `${WEBHOOK}/deliveries` as const
export const RESEND = `${DELIVERIES}/{notice}/resend` as const

/** Mutation of webhooks. Reloads webhooks and deliveries on success. */
export function useWebhookChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, announcement: string) {
  return useChange(change, announcement, [WEBHOOKS, WEBHOOK, DELIVERIES, NOTICES])
}
