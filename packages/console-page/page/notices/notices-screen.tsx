import { useProjectName } from '../api/use-project.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { NoticeTable } from './notice-table.tsx'
import { ThresholdPart } from './threshold-part.tsx'
import { SHOWN_NOTICES, useNotices } from './use-notices.ts'
import { WebhookPart } from './webhook-part.tsx'
import './style/notices.css'

const EVERY_MS = 5_000

/** Alerts of a project, its alert rules and its webhooks. */
export function NoticesScreen() {
  const { notices, hasMore, error } = useNotices(EVERY_MS)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <Screen title="Alerts" of={useProjectName()}>
      <RefusalBox error={error} />
      {!notices && !error && <Waiting what="alerts" />}
      {notices?.length === 0 && (
        <EmptyState title="No alerts yet">
          An alert is raised when a threshold below is crossed, a key is rotated, or a secret is found in public. Alerts
          are listed for 90 days.
        </EmptyState>
      )}
      {notices && notices.length > 0 && <NoticeTable notices={notices} />}
      {hasMore && <p className="soft small">Showing the latest {SHOWN_NOTICES}. The API lists all 90 days.</p>}
      <ThresholdPart />
      {isOwner && <WebhookPart notices={notices ?? []} />}
    </Screen>
  )
}
