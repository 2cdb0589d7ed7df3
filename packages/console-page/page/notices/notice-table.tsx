import type { NoticeRecord } from '@gateway/api/console/notices'
import { useKeyNames, useMemberNames } from '../api/use-names.ts'
import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { NoticeText } from './notice-labels.tsx'

/** Alerts with their time, state and deliveries. */
export function NoticeTable({ notices }: { notices: NoticeRecord[] }) {
  const nameOf = useKeyNames()
  const userOf = useMemberNames()
  const columns: Column<NoticeRecord>[] = [
    { head: 'Alert', cell: (notice) => <NoticeText notice={notice} nameOf={nameOf} userOf={userOf} /> },
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    {
      head: 'State',
      cell: ({ open }) => (open ? <Badge tone="warn" text="Open" /> : <Badge tone="plain" text="Resolved" />),
    },
    { head: 'Webhooks', cell: ({ deliveries }) => <span className="soft">{postedText(deliveries)}</span> },
  ]
  return <DataTable caption="Alerts" columns={columns} rows={notices} keyOf={({ id }) => id} />
}

function postedText(deliveries: NoticeRecord['deliveries']): string {
  if (deliveries.length === 0) return 'None'
  const taken = deliveries.filter(({ state }) => state === 'Delivered').length
  return `${taken} of ${deliveries.length} delivered`
}
