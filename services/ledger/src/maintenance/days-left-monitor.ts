import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

/** Creates notices for wallets whose runway is shorter than the days their users have set (money §10.1). */
export async function notifyDaysLeft({ reads }: Pick<Deps, 'reads'>): Promise<{ notices: number }> {
  return callFunction(reads.sql, 'money.notify_days_left', {})
}
