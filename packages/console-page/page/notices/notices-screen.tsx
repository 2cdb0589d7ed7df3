import { useProjectName } from '../api/use-project.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { NoticeTable } from './notice-table.tsx'
import { ThresholdPart } from './threshold-part.tsx'
import { SHOWN_NOTICES, useNotices } from './use-notices.ts'
import { WebhookPart } from './webhook-part.tsx'
import './style/notices.css'

const EVERY_MS = 5_000

/** What was told of the project, what is to be told, and where it is posted to. */
export function NoticesScreen() {
  const { notices, hasMore, error } = useNotices(EVERY_MS)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <Screen title="Notices" of={useProjectName()}>
      <RefusalBox error={error} />
      {!notices && !error && <Waiting what="notices" />}
      {notices?.length === 0 && (
        <EmptyState title="Nothing was told yet">
          A notice is told when a threshold below is crossed, and is listed for 90 days.
        </EmptyState>
      )}
      {notices && notices.length > 0 && <NoticeTable notices={notices} />}
      {hasMore && <p className="soft small">The newest {SHOWN_NOTICES} are shown; the API lists all of 90 days.</p>}
      <ThresholdPart />
      {isOwner && <WebhookPart notices={notices ?? []} />}
    </Screen>
  )
}
