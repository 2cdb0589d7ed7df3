import { refuse } from '@gateway/contracts/refusal'
import { recordChange, type Transaction } from '../../audit/record-change.ts'

// Which person an identity at the sign-in provider is.
//   P1  Once linked, issuer and subject say who it is; its e-mail may change as it likes.
//   P2  The first time, a verified e-mail does, if a person with it was added before. Nobody is made here: without a
//       membership there would be nothing to see.
//   P3  A person has one identity at a provider. An e-mail that was given to somebody else opens nothing.
//   P4  If an Admin chose the person's first password, it and all that was opened with it end with the first sign-in at the
//       provider: only now has the owner of the e-mail come.

export interface Identity {
  issuer: string
  subject: string
  /** Lower case; null: the provider does not vouch for one. */
  verifiedEmail: string | null
}

/**
 * The id of the person, linked from now on.
 * @throws Refusal `not_permitted`
 */
export async function personBehind(tx: Transaction, identity: Identity): Promise<string> {
  const { issuer, subject, verifiedEmail } = identity
  const linked = await tx.personIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } })
  if (linked) return linked.person // P1

  if (verifiedEmail === null)
    throw refuse('not_permitted', { need: 'an e-mail address that the sign-in provider has verified' })
  const [person] = await tx.$queryRaw<{ id: string; vouched_by: string | null }[]>`
    SELECT id, vouched_by FROM control.people WHERE email = ${verifiedEmail} FOR NO KEY UPDATE`
  if (!person) throw refuse('not_permitted', { need: `a membership for the e-mail ${verifiedEmail}` }) // P2
  const { count } = await tx.personIdentity.createMany({
    data: [{ issuer, subject, person: person.id }],
    skipDuplicates: true,
  })
  if (count === 0) await requireSame(tx, identity, person.id)
  else await startAnew(tx, person.id, issuer, person.vouched_by)
  return person.id
}

/** It was linked at the same moment, or the person has another identity. */
async function requireSame(tx: Transaction, { issuer, subject }: Identity, person: string): Promise<void> {
  const linked = await tx.personIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } })
  if (linked?.person === person) return
  throw refuse('not_permitted', { need: 'the account at the sign-in provider that this e-mail belonged to first' }) // P3
}

async function startAnew(tx: Transaction, person: string, issuer: string, vouchedBy: string | null): Promise<void> {
  const details = { issuer, endedWhatWasBefore: vouchedBy !== null }
  await recordChange(tx, { tenant: null, person, action: 'identity.link', subject: person, details })
  if (vouchedBy === null) return
  await tx.person.update({ where: { id: person }, data: { passwordHash: null, vouchedBy: null } }) // P4
  await tx.signInCode.deleteMany({ where: { person } }) // first: whoever redeems one at this moment has made a token then
  await tx.personToken.deleteMany({ where: { person } })
}
