import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'

/**
 * Roles in teams and projects are for members of the organization.
 * @throws Refusal `invalid_request`, alike for a person who isn't one and for one who doesn't exist
 */
export async function requireMember(tx: Transaction, tenant: string, person: string): Promise<void> {
  if (await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })) return
  throw refuse(
    'invalid_request',
    {
      reason: 'person: is no member of the organization.',
      resolution: 'Add the person to the organization first, and send the id that was answered.',
    },
    { param: 'person' },
  )
}
