import type { IncomingMessage } from 'node:http'
import { refuse } from '@gateway/contracts/refusal'

// Headers that decide who pays or whether a call is new. Sent twice, they could mean one thing here and another on the way.

/** @throws Refusal `duplicate_header` */
export function refuseRepeatedKey(req: Pick<IncomingMessage, 'rawHeaders'>): void {
  refuseRepeated(req, AUTHORIZATION)
}

/** @throws Refusal `duplicate_header` */
export function refuseRepeatedHeaders(req: Pick<IncomingMessage, 'rawHeaders'>): void {
  refuseRepeated(req, OTHERS)
}

const AUTHORIZATION = new Map([['authorization', 'Authorization']])
const OTHERS = new Map([
  ['idempotency-key', 'Idempotency-Key'],
  ['x-service-project', 'X-Service-Project'],
  ['x-project-id', 'X-Project-ID'],
])

/** @param names by their lower-case form, as they are shown */
function refuseRepeated({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, names: Map<string, string>): void {
  let seen: string[] | null = null
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = names.get(rawHeaders[at]!.toLowerCase())
    if (header === undefined) continue
    if (seen?.includes(header)) throw refuse('duplicate_header', { header })
    ;(seen ??= []).push(header)
  }
}
