import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isWellFormedSecret, KEY_SECRET_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { refuseRepeatedKey } from './single-headers.ts'

/**
 * The hash of the secret in `Authorization: Bearer svc_…` (spec 5). The secret itself goes no further than this function.
 * @throws Refusal `key_missing`, `key_invalid` for what can't be a secret of ours (no look-up), `duplicate_header`
 */
export function readKey(req: IncomingMessage): string {
  refuseRepeatedKey(req) // of two keys none is the key
  const secret = /^bearer +(\S.*)$/i.exec(req.headers.authorization ?? '')?.[1]
  if (secret === undefined) throw refuse('key_missing', {})
  if (!isWellFormedSecret(KEY_SECRET_PREFIX, secret)) throw refuse('key_invalid', {})
  return createHash('sha256').update(secret).digest('hex')
}
