import { useQuery } from '@tanstack/react-query'
import { reading, readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { dayOf, daysLeft, lastDays } from '../pure/pace.ts'
import { NOTICES } from './notice-paths.ts'
import { openNotices } from './notice-state.ts'

const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'
const EVERY_MS = 5_000
const PACE_DAYS = 7
/** How many are shown, newest first. */
export const SHOWN_NOTICES = 100

/** The newest notices, which come by themselves, and which of them are still so. */
export function useNotices() {
  const params = usePlace()
  const { tenant, project } = params
  const enabled = project !== ''
  const { data, error } = useQuery({
    ...reading(NOTICES, { params, query: { limit: SHOWN_NOTICES } }),
    refetchInterval: EVERY_MS,
    enabled,
  })
  const has = (kind: string) => data?.data.some((each) => each.kind === kind) ?? false
  const hasPace = has('wallet.days_left')
  const wallet = useQuery({
    ...reading(`${PROJECT}/wallet`, { params }),
    refetchInterval: EVERY_MS,
    enabled: enabled && (hasPace || has('wallet.below')),
  })
  const keys = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
    refetchInterval: EVERY_MS,
    enabled: enabled && has('key.percent'),
  })
  const days = lastDays(PACE_DAYS, new Date())
  const query = { from: days[0]!, to: dayOf(new Date(), 1) }
  const spent = useQuery({ ...reading(`${PROJECT}/statement`, { params, query }), enabled: enabled && hasPace })
  const remainingMicro = wallet.data ? wallet.data.availableMicro + wallet.data.reservedMicro : null
  const isPaceKnown = remainingMicro !== null && spent.data !== undefined
  const open = openNotices(data?.data ?? [], {
    remainingMicro,
    daysLeft: isPaceKnown ? daysLeft(remainingMicro, spent.data.chargedMicro, PACE_DAYS) : null,
    keys: keys.data ?? [],
  })
  return { notices: data?.data, hasMore: data ? data.nextCursor !== null : false, open, error }
}
