import type { newMemberBody } from '@gateway/contracts/console/people'
import { refuse } from '@gateway/contracts/refusal'
import type { z } from 'zod'
import type { Transaction } from '../audit/record-change.ts'
import { invalidField } from '../request/check.ts'

interface NewMember extends Pick<z.output<typeof newMemberBody>, 'email' | 'person' | 'name' | 'password'> {
  tenant: string
  passwordHash: string | null
  /** For a person whom the service does not know yet. */
  newPersonId: string
}

interface Known {
  id: string
  vouchedBy: string | null
}

/**
 * The person that is named by id or e-mail; made, where the e-mail is new.
 * @throws Refusal `already_exists`, `invalid_request`
 */
export async function personToAdd(
  tx: Transaction,
  wanted: NewMember,
): Promise<{ person: Known; isNewPerson: boolean }> {
  const { email, name, password, passwordHash } = wanted
  const select = { id: true, vouchedBy: true }
  if (email === undefined) {
    const person = await tx.person.findUnique({ where: { id: wanted.person ?? '' }, select })
    if (person) return { person, isNewPerson: false }
    throw invalidField('person', 'is nobody of this service.', 'Send the id that the person finds at GET /api/v2/me.')
  }
  const vouchedBy = passwordHash === null ? null : wanted.tenant
  const created = { id: wanted.newPersonId, email, name: name ?? email.split('@')[0]!, passwordHash, vouchedBy }
  const { count } = await tx.person.createMany({ data: [created], skipDuplicates: true })
  // Whoever administers one organization does not decide about a person's name or password in all others.
  if (count === 0 && (name !== undefined || password !== undefined))
    throw refuse('already_exists', { what: 'A person with this e-mail (leave out name and password to add them)' })
  return { person: await tx.person.findUniqueOrThrow({ where: { email }, select }), isNewPerson: count > 0 }
}

/**
 * An Admin of another organization who made this person knows the first password, and may be the only one to have used it:
 * what is given to the e-mail would be given to that Admin.
 * @throws Refusal `invalid_request`
 */
export function requireKnownEmail({ vouchedBy }: Known, tenant: string): void {
  if (vouchedBy === null || vouchedBy === tenant) return
  throw invalidField(
    'email',
    'another organization added this person, and nobody has shown yet that the e-mail is theirs.',
    'Send `person`, the id that they find at GET /api/v2/me, or let them sign in once through the sign-in provider.',
  )
}
