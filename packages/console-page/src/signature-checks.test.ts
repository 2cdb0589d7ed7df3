import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { signatureChecks } from '../page/notices/signature-checks.ts'

// Executes the code exactly as users copy it.

const run = promisify(execFile)
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = '{"type":"wallet.below"}'
const now = () => Math.floor(Date.now() / 1000)

function headersAt(time: number, signed = body): Record<string, string> {
  const mac = createHmac('sha256', Buffer.alloc(32, 7)).update(`ntc_1.${time}.${signed}`).digest('base64')
  return { 'webhook-id': 'ntc_1', 'webhook-timestamp': String(time), 'webhook-signature': `v1,${mac}` }
}
/** After a rotation: the signatures by the new secret and by the one before. */
function withAnother(headers: Record<string, string>): Record<string, string> {
  const another = `v1,${Buffer.alloc(32, 9).toString('base64')}`
  return { ...headers, 'webhook-signature': `${another} ${headers['webhook-signature']}` }
}
const cases = (): [Record<string, string>, boolean][] => [
  [withAnother(headersAt(now())), true],
  [withAnother(headersAt(now(), '{}')), false],
  [headersAt(now()), true],
  [headersAt(now() - 400), false],
  [headersAt(now() + 400), false],
  [headersAt(now(), '{}'), false],
]

test('the Node sample accepts a current signature, also as one of several, and rejects stale, future and forged ones', async () => {
  const code: string = `data:text/javascript,${encodeURIComponent(signatureChecks.Node)}`
  const { isGenuine } = await import(code)
  for (const [headers, expected] of cases()) expect(isGenuine(headers, body, secret)).toBe(expected)
  expect(isGenuine({}, body, secret)).toBe(false)
})

test('the Python sample accepts a current signature, also as one of several, and rejects stale, future and forged ones', async () => {
  for (const [headers, expected] of cases()) {
    const said = `${signatureChecks.Python}\nimport json, sys\nprint(is_genuine(json.loads(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]))`
    const { stdout } = await run('python3', ['-c', said, JSON.stringify(headers), body, secret])
    expect(stdout.trim()).toBe(expected ? 'True' : 'False')
  }
})
