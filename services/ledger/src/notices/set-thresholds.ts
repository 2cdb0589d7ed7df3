import type { ThresholdsRequest } from '@gateway/ledger-protocol/ledger-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

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
