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
  const own = Buffer.from('v1,' + mac.digest('base64'))
  const isOwn = (sent) => sent.length === own.length && timingSafeEqual(sent, own)
  // several signatures after a rotation of the secret
  return isNow && part('signature').split(' ').some((sent) => isOwn(Buffer.from(sent)))
}`,
  Python: `import base64, hashlib, hmac, time

# body: the raw request bytes, before parsing
def is_genuine(headers, body, secret):
    id, at = headers["webhook-id"], headers["webhook-timestamp"]
    is_now = abs(time.time() - int(at)) < 300
    key = base64.b64decode(secret[6:])  # after whsec_
    mac = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256)
    own = "v1," + base64.b64encode(mac.digest()).decode()
    # several signatures after a rotation of the secret
    return is_now and any(hmac.compare_digest(own, sent) for sent in headers["webhook-signature"].split(" "))`,
} as const
