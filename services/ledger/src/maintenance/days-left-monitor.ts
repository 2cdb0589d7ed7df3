import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

/** Tells of wallets whose money does not last for as many days as their users want (money §10.1). */
export async function notifyDaysLeft({ reads }: Pick<Deps, 'reads'>): Promise<{ notices: number }> {
  return callFunction(reads.sql, 'money.notify_days_left', {})
}
