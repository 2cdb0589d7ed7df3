import type { EventNotices, ThresholdsRequest } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'
import { callFunction } from '@gateway/database/call-function'

/**
 * Writes notices of what happened to keys and tokens, with a delivery to each webhook of their project (money §10.1).
 * Safe to repeat: a notice that was written before stays unchanged.
 */
export async function writeNotices({ reads }: Pick<Deps, 'reads'>, { notices }: EventNotices): Promise<object> {
  await reads.prisma.$executeRaw`
    WITH written AS (
      INSERT INTO money.notices (id, project, kind, key, details, at)
      SELECT n.id, n.project, n.kind, n.key, n.details, n.at
        FROM jsonb_to_recordset(${JSON.stringify(notices)}::jsonb)
          AS n (id text, project text, kind text, key text, details jsonb, at timestamptz)
      ON CONFLICT (id) DO NOTHING
      RETURNING id, project)
    INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
    SELECT written.id, w.id, clock_timestamp() FROM written JOIN money.webhooks w ON w.project = written.project`
  return {}
}

/** Sets the thresholds that a project is notified of (money §10.1). Waits for its wallet. */
export async function setThresholds(
  { reads }: Pick<Deps, 'reads'>,
  { project, belowMicro, daysLeft, keyPercents }: ThresholdsRequest,
): Promise<object> {
  await callFunction(reads.sql, 'money.set_notice_thresholds', {
    of_project: project,
    below: belowMicro.map(String),
    percents: keyPercents,
    days_left: daysLeft,
  })
  return {}
}
