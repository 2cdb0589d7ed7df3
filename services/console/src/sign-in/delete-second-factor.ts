import type { Transaction } from '../audit/record-change.ts'
import { lockUser } from './end-credentials.ts'

/** Deletes a second factor. What was signed in with it counts as signed in without one. */
export async function deleteSecondFactor(tx: Transaction, user: string): Promise<boolean> {
  await lockUser(tx, user)
  const { count } = await tx.secondFactor.deleteMany({ where: { user } })
  await tx.recoveryCode.deleteMany({ where: { user } })
  await tx.signInTicket.deleteMany({ where: { user } })
  await tx.session.updateMany({ where: { user }, data: { secondFactor: false } })
  await tx.signInCode.deleteMany({ where: { user } })
  await tx.userToken.updateMany({ where: { user }, data: { secondFactor: false } })
  return count > 0
}
