import { createHash, createHmac } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { NotReady } from '../wire-format.ts'
import { requestSigner } from './converse-wire.ts'

const baseUrl = 'https://bedrock-runtime.eu-west-1.amazonaws.com'
const input = {
  modelId: 'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
  messages: [{ role: 'user' as const, content: [{ text: 'Grüße' }] }],
  inferenceConfig: { maxTokens: 7 },
}

const variables = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK']
const setTo = (values: Record<string, string>) => {
  for (const variable of variables) vi.stubEnv(variable, values[variable])
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere')
}
afterEach(() => vi.unstubAllEnvs())

test('sends a Bedrock API key as a bearer token, to the path of the operation', async () => {
  setTo({})
  const sign = requestSigner({ apiKey: 'bedrock-key', baseUrl, region: 'eu-west-1' })
  const { path, headers, body } = await sign(input, false)
  expect(path).toBe('/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse')
  expect(headersOf(headers)).toMatchObject({ authorization: 'Bearer bedrock-key' })
  expect(JSON.parse(body)).toEqual({
    messages: [{ role: 'user', content: [{ text: 'Grüße' }] }],
    inferenceConfig: { maxTokens: 7 },
  })
  expect((await sign(input, true)).path).toMatch(/\/converse-stream$/)
})

test('does not repeat the path of the base address', async () => {
  setTo({})
  const sign = requestSigner({ apiKey: 'k', baseUrl: 'https://proxy.example.com/bedrock/', region: 'eu-west-1' })
  expect((await sign(input, false)).path).toMatch(/^\/model\//)
})

test('signs requests with the credentials that the SDK finds if there is no API key', async () => {
  setTo({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' })
  const { path, headers, body } = await requestSigner({ baseUrl, region: 'eu-west-1' })(input, false)
  const sent: Record<string, string> = {
    ...headersOf(headers),
    host: new URL(baseUrl).host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const [, scope, signed, signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\S+), SignedHeaders=(\S+), Signature=(\S+)$/.exec(
      sent['authorization']!,
    )!
  expect(scope).toMatch(/^\d{8}\/eu-west-1\/bedrock\/aws4_request$/)
  expect(sent['x-amz-security-token']).toBe('session')
  expect(signature).toBe(signatureOf({ path, sent, body, scope: scope!, signed: signed! }))
})

test('fails without credentials, with a message that names no file or account', async () => {
  setTo({})
  const failed = requestSigner({ baseUrl, region: 'eu-west-1' })(input, false)
  await expect(failed).rejects.toThrow(NotReady)
  await expect(failed).rejects.toThrow("the request can't be signed: CredentialsProviderError")
})

function headersOf(list: string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let n = 0; n < list.length; n += 2) headers[list[n]!.toLowerCase()] = list[n + 1]!
  return headers
}

/** Independent Signature Version 4: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html. */
function signatureOf(request: {
  path: string
  sent: Record<string, string>
  body: string
  scope: string
  signed: string
}): string {
  const { path, sent, body, scope, signed } = request
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const uri = path.split('/').map(encodeURIComponent).join('/')
  const canonicalHeaders = signed.split(';').map((name) => `${name}:${sent[name]}\n`)
  const canonical = ['POST', uri, '', canonicalHeaders.join(''), signed, sha256(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', sent['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((before, part) => hmac(before, part), 'AWS4secret')
  return createHmac('sha256', key).update(text).digest('hex')
}
