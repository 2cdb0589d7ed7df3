import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'

const iterations = 4096

/**
 * What Postgres stores of a password (SCRAM-SHA-256, RFC 5803). Sent instead of the password, so that no statement
 * log holds one. `salt`: 16 random bytes.
 */
export function scramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const serverKey = hmac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`
}
