import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type DeliveryCounts, POST_MS, type Posted, type TakenDelivery } from '@gateway/ledger-protocol/ledger-reads'
import { objectionOfLookup, objectionToUrl } from '@gateway/service-kit/public-network/address-objection'
import { publicLookup } from '@gateway/service-kit/public-network/public-lookup'
import type { LedgerClient } from './ledger-client.ts'

/** A turn ends after this time, so that a stop does not wait for everything that is due. */
const TURN_MS = 5_000

/** Posts the notices that are due to webhooks (money §10.2). Returns the number of deliveries by outcome. */
export async function postDeliveries(
  ledger: Pick<LedgerClient, 'takeDeliveries' | 'recordDeliveries'>,
): Promise<DeliveryCounts> {
  const counts: DeliveryCounts = { delivered: 0, failed: 0, dead: 0 }
  const endsMs = performance.now() + TURN_MS
  while (performance.now() < endsMs) {
    const { deliveries: taken } = await ledger.takeDeliveries({})
    if (taken.length === 0) break
    const deliveries = await Promise.all(
      taken.map(async (one) => {
        const { notice, webhook, tries } = one
        return { notice, webhook, tries, posted: await postNotice(one) }
      }),
    )
    const { delivered, failed, dead } = await ledger.recordDeliveries({ deliveries })
    counts.delivered += delivered
    counts.failed += failed
    counts.dead += dead
  }
  return counts
}

/**
 * POSTs a notice once, within the time limit, which includes the look-up. The connection goes to the exact address that
 * was looked up and found public. Redirects are not followed, and nothing of the response but its status is read. Never
 * rejects.
 */
async function postNotice({ url, headers, body, privateAddresses }: TakenDelivery): Promise<Posted> {
  const objection = objectionToUrl(url, privateAddresses)
  if (objection !== null) return { error: objection }
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    /** Recognizes a failed look-up, which the request would report like a failed connection. */
    const lookUp: LookupFunction = (host, options, answer) =>
      publicLookup()(host, options, (error, ...found) => {
        if (error) resolve({ error: objectionOfLookup(error) })
        answer(error, ...found)
      })
    const signal = AbortSignal.timeout(POST_MS)
    const req = request(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      ...(!privateAddresses && { lookup: lookUp }),
    })
    req.on('response', (res) => {
      resolve({ status: res.statusCode ?? 0 })
      res.destroy()
    })
    req.on('close', () => resolve({ error: 'unreachable' })) // also without an error, as for a protocol upgrade
    req.on('error', () => resolve({ error: signal.aborted ? 'timeout' : 'unreachable' }))
    req.end(body)
  })
}
