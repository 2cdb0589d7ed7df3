import type { IncomingMessage } from 'node:http'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { readKey } from './read-key.ts'
import { selectorOf } from './selector.ts'
import { refuseRepeatedHeaders } from './single-headers.ts'

/**
 * Who asks, of a request without a body: the key, then the headers (spec 4.5, 5).
 * @throws Refusal 400 or 401
 */
export function readCaller(req: IncomingMessage): CallerQuestion {
  const keyHash = readKey(req)
  refuseRepeatedHeaders(req)
  return { keyHash, selector: selectorOf(req, null) }
}
