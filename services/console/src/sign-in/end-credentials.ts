import type { Transaction } from '../audit/record-change.ts'

/** What `endCredentials` leaves unchanged. */
interface Kept {
  session?: string | undefined
  token?: string | undefined
  allTokens?: boolean
}

/**
 * Ends everything by which a user is signed in: sessions, half-finished sign-ins, sign-in codes, reset links and personal
 * tokens. All are refused from the next request on. Forgets the devices too (known-devices.ts).
 *
 * It locks the user, so a sign-in that has begun waits (`requireEnabled`), and finds what ended it.
 * What is created concurrently from something that ends here ends too, by the order of the statements: a ticket becomes
 * a session, a session confirms a code or creates a token, a code becomes a token. Each of these transactions locks what
 * it starts from, so the statement that ends it waits, and a later statement sees the result.
 */
export async function endCredentials(
  tx: Transaction,
  user: string,
  { session, token, allTokens = false }: Kept = {},
): Promise<void> {
  await tx.$queryRaw`SELECT FROM control.users WHERE id = ${user} FOR NO KEY UPDATE`
  await tx.passwordReset.deleteMany({ where: { user } })
  await tx.knownDevice.deleteMany({ where: { user } })
  await tx.signInTicket.deleteMany({ where: { user } })
  await tx.session.deleteMany({ where: { user, ...(session !== undefined && { id: { not: session } }) } })
  await tx.signInCode.deleteMany({ where: { user } })
  if (!allTokens) await tx.userToken.deleteMany({ where: { user, ...(token !== undefined && { id: { not: token } }) } })
}
