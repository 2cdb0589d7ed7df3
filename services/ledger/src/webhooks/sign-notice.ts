import { createHmac } from 'node:crypto'

/**
 * The headers of a delivery by the Standard Webhooks specification: whoever has the secret can tell that it is ours, and
 * repeats by their id.
 * @param secret `whsec_` and base64
 */
export function signNotice(secret: string, { id, body, nowMs }: { id: string; body: string; nowMs: number }) {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
