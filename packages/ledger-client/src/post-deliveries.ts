import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type DeliveryRecord, POST_MS, type Posted, type TakenDelivery } from '@gateway/ledger-protocol/ledger-reads'
import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import { settlesWithin } from '@gateway/service-kit/async/waiting'
import type { Logger } from '@gateway/service-kit/process/logger'
import {
  objectionOfLookup,
  objectionToUrl,
  anyLookup,
  publicLookup,
} from '@gateway/service-kit/public-network/public-lookup'
import type { LedgerClient } from './ledger-client.ts'

// Posts the notices that are due to webhooks (money §10.2).
//   P1  A place is free again once its own post has ended, so a target that never answers delays no other post.
//   P2  The ledger chooses what fills the free places, and knows what is under way here: no project and no host holds
//       most of the places.
//   P3  One request at a time takes deliveries and another records them, so that heartbeats have connections.

/** Half as many as names that are looked up at the same time, so that other look-ups of the process have a turn. */
const PLACES = 32
/** Longest wait for posts under way until the ledger is asked again. */
const POLL_MS = 1_000

export interface Poster {
  /**
   * Takes due deliveries for the free places, and starts to post them. Waits until half of all posts under way have
   * ended, or for a second. Returns 0 if nothing was due and nothing is under way.
   * @throws the error of the ledger if none could be taken
   */
  postDue(): Promise<number>
  /** Resolves when every post has ended and is recorded. */
  idle(): Promise<void>
}

/** Opens what posts due notices, for one process. A delivery that could not be recorded is posted again. */
export function openPoster(
  ledger: Pick<LedgerClient, 'takeDeliveries' | 'recordDeliveries'>,
  log: Pick<Logger, 'warn'>,
): Poster {
  /** Posts under way, and the webhook of each. */
  const underWay = new Map<Promise<void>, string>()
  const records = openItemBatcher<DeliveryRecord>({ maxItems: PLACES, run: record })

  async function record(deliveries: DeliveryRecord[]): Promise<void> {
    try {
      await ledger.recordDeliveries({ deliveries })
    } catch (error) {
      log.warn({ err: error, deliveries: deliveries.length }, 'deliveries not recorded, will be posted again')
    }
  }

  async function post(taken: TakenDelivery): Promise<void> {
    const { notice, webhook, tries } = taken
    records.add({ notice, webhook, tries, posted: await postNotice(taken) })
  }

  async function takeInto(places: number): Promise<number> {
    if (places === 0) return 0
    const { deliveries } = await ledger.takeDeliveries({ places, underWay: [...underWay.values()] }) // P2
    for (const taken of deliveries) {
      const posting: Promise<void> = post(taken).finally(() => underWay.delete(posting)) // P1
      underWay.set(posting, taken.webhook)
    }
    return deliveries.length
  }

  return {
    async postDue() {
      const taken = await takeInto(PLACES - underWay.size)
      const [half, untilMs] = [underWay.size / 2, performance.now() + POLL_MS]
      for (let leftMs = POLL_MS; underWay.size > half && leftMs > 0; leftMs = untilMs - performance.now())
        await settlesWithin(leftMs, Promise.race(underWay.keys()))
      return taken + underWay.size
    },
    async idle() {
      await Promise.all(underWay.keys())
      await records.idle()
    },
  }
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
    const find = privateAddresses ? anyLookup : publicLookup()
    /** Recognizes a failed look-up, which the request would report like a failed connection. */
    const lookUp: LookupFunction = (host, options, answer) =>
      find(host, options, (error, ...found) => {
        if (error) resolve({ error: objectionOfLookup(error) })
        answer(error, ...found)
      })
    const signal = AbortSignal.timeout(POST_MS)
    const req = request(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      lookup: lookUp,
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
