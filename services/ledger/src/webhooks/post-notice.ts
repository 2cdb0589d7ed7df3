import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { publicLookup } from '@gateway/service-kit/public-network/public-lookup'
import { objectionTo, type Objection } from './webhook-address.ts'

/** What came of it: a status, or why there was none. Nothing else of the answer is read. */
export type Posted = { status: number } | { error: Objection | 'timeout' | 'unreachable' | 'key_missing' }

interface Options {
  timeoutMs: number
  privateAddresses: boolean
}

/**
 * POSTs a body once. The connection goes to the very address that was looked up and found public. Redirects are not
 * followed. Never rejects.
 */
export async function postNotice(
  url: string,
  headers: Record<string, string>,
  body: string,
  { timeoutMs, privateAddresses }: Options,
): Promise<Posted> {
  const objection = await objectionTo(url, privateAddresses)
  if (objection !== null) return { error: objection }
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const req = request(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      ...(!privateAddresses && { lookup: publicLookup() }),
    })
    req.on('response', (res) => {
      resolve({ status: res.statusCode ?? 0 })
      res.destroy()
    })
    req.on('error', () => resolve({ error: signal.aborted ? 'timeout' : 'unreachable' }))
    req.end(body)
  })
}
