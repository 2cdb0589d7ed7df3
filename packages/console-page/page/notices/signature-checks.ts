/** Code for receivers that verifies the signature of an alert (money §10.2). */
export const signatureChecks = {
  Node: `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the raw request text, before parsing
export function isGenuine(headers, body, secret) {
  const part = (name) => headers['webhook-' + name] ?? ''
  const [id, time] = [part('id'), part('timestamp')]
  const isNow = Math.abs(Date.now() / 1000 - Number(time)) < 300
  const key = Buffer.from(secret.slice(6), 'base64') // after whsec_
  const mac = createHmac('sha256', key).update(id + '.' + time + '.' + body)
  const [own, sent] = ['v1,' + mac.digest('base64'), part('signature')].map((text) => Buffer.from(text))
  return isNow && own.length === sent.length && timingSafeEqual(own, sent)
}`,
  Python: `import base64, hashlib, hmac, time

# body: the raw request bytes, before parsing
def is_genuine(headers, body, secret):
    id, at = headers["webhook-id"], headers["webhook-timestamp"]
    is_now = abs(time.time() - int(at)) < 300
    key = base64.b64decode(secret[6:])  # after whsec_
    mac = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256)
    own = "v1," + base64.b64encode(mac.digest()).decode()
    return is_now and hmac.compare_digest(own, headers["webhook-signature"])`,
} as const
