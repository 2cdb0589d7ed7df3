import type { Transaction } from '../audit/record-change.ts'
import { invalidField } from '../request/check.ts'

/**
 * Roles in teams and projects are for members of the organization.
 * @throws Refusal `invalid_request`, alike for a person who isn't one and for one who doesn't exist
 */
export async function requireMember(tx: Transaction, tenant: string, person: string): Promise<void> {
  if (await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })) return
  throw invalidField(
    'person',
    'is no member of the organization.',
    'Add the person to the organization first, and send the id that was answered.',
  )
}
