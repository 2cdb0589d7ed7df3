import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** A secret that no one may read elsewhere. */
export interface PlantedSecret {
  kind: string
  /** As a text contains it. */
  text: string
  /** What must not be found: the text itself, or the part of it that is secret. */
  secret: string
  /** The name by which it is recognized; the others are recognized by their form alone. */
  byName?: string
}

const letters = (count: number) =>
  randomBytes(2 * count)
    .toString('base64')
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .slice(0, count)

/** New secrets of every kind that a log could meet. */
export function plantSecrets(): PlantedSecret[] {
  const of = (kind: string, prefix: string, count: number): PlantedSecret => {
    const secret = letters(count)
    return { kind, text: prefix + secret, secret }
  }
  const ours = (prefix: string): PlantedSecret => {
    const [shown, secret] = [letters(8), letters(40)]
    return { kind: `our ${prefix}`, text: `${prefix}${shown}${secret}`, secret }
  }
  const slashed = `${letters(12)}/${letters(6)}@${letters(6)}`
  const redis = letters(24)
  const privateKey = generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
    .trim()
  // In another order than the header of a service token, so that a search for those does not find this one.
  const token = ['{"typ":"JWT","alg":"EdDSA"}', '{"iss":"console","aud":"ledger"}'].map((part) =>
    Buffer.from(part).toString('base64url'),
  )
  const named = (kind: string, byName: string, text: string): PlantedSecret => ({ kind, text, secret: text, byName })
  return [
    ours('svc_'),
    ours('svu_'),
    ours('svt_'),
    ours('svs_'),
    of('a key of OpenAI', 'sk-proj-', 48),
    of('a key of Anthropic', 'sk-ant-api03-', 60),
    of('a key of Google', 'AIzaSy', 33),
    of('an access key of AWS', 'AKIA', 16),
    of('the secret of a webhook', 'whsec_', 32),
    named('a key of Azure', 'api-key', randomBytes(16).toString('hex')),
    named('a secret key of AWS', 'aws_secret_access_key', randomBytes(30).toString('base64')),
    named('a password', 'password', `1${letters(20)}`),
    named('a cookie', 'cookie', `__Host-svc_session=${letters(43)}`),
    {
      kind: 'the address of Postgres',
      text: `postgres://svc_ledger_login:${slashed}@db.internal:5432/gateway`,
      secret: slashed,
    },
    { kind: 'the address of Redis', text: `rediss://:${redis}@redis.internal:6379`, secret: redis },
    { kind: 'a bearer token', text: `Bearer ${letters(40)}`, secret: '' },
    { kind: 'a service token', text: `${token.join('.')}.${letters(86)}`, secret: token[1]! },
    { kind: 'a private key', text: privateKey, secret: privateKey.split('\n')[1]! },
  ].map((planted) => (planted.secret === '' ? { ...planted, secret: planted.text.split(' ')[1]! } : planted))
}
