import { describe, expect, test } from 'vitest'
import { createLogger } from './logger.ts'

function loggerWithLines() {
  const lines: string[] = []
  const log = createLogger({ service: 'ledger', level: 'info', to: { write: (line: string) => void lines.push(line) } })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> }
}
const secret = `svc_${'a1B2'.repeat(12)}`

describe('logger', () => {
  test('writes one JSON line with level by name, time and service', () => {
    const { log, last } = loggerWithLines()
    log.info({ batch: 3 }, 'admitted')
    expect(last()).toEqual({
      level: 'info',
      time: expect.any(String),
      service: 'ledger',
      batch: 3,
      message: 'admitted',
    })
    expect(Date.parse(String(last()['time']))).not.toBeNaN()
  })

  test('writes nothing below its level', () => {
    const { log, lines } = loggerWithLines()
    log.debug('quiet')
    expect(lines).toEqual([])
  })

  test.each([
    ['a credential at any depth', { a: { b: [{ headers: { Authorization: 'Basic cGFzc3dvcmQ=' } }] } }, 'cGFzc3dvcmQ='],
    ['a service secret', { SERVICE_SECRET_GATEWAY: 'hunter2"quoted\\' }, 'hunter2'],
    ['a password with quotes', { password: 'a"b\\"hunter2' }, 'hunter2'],
    ['an API key', { provider: { apiKey: 'sk-hunter2' } }, 'hunter2'],
    ['a cookie', { cookie: 'session=hunter2' }, 'hunter2'],
    ['a key of ours under an innocent name', { seen: `got ${secret}.` }, secret.slice(14)],
    ['a bearer token in an error message', { err: new Error('sent Bearer hunter2hunter2') }, 'hunter2'],
    ["a provider's key in a text", { body: 'got {\\"api_key\\":\\"sk-hunter2-hunter2-hunter2\\"}' }, 'hunter2'],
    ['the secret of a webhook', { seen: 'whsec_hunter2hunter2hunter2' }, 'hunter2'],
    ['the password of an address', { url: 'postgres://ledger:hunter2@127.0.0.1:5432/x' }, 'hunter2'],
  ])('never lets %s through', (_what, facts, mustNotAppear) => {
    const { log, lines, last } = loggerWithLines()
    log.info(facts, 'line')
    expect(last()['message']).toBe('line') // still valid JSON
    expect(lines.join('')).not.toContain(mustNotAppear)
  })

  test('redacts secrets in the message', () => {
    const { log, lines } = loggerWithLines()
    log.warn(`key ${secret} refused`)
    expect(lines.join('')).not.toContain(secret.slice(14))
    expect(lines.join('')).toContain(secret.slice(0, 12))
  })

  test('leaves token counts and ordinary words unchanged', () => {
    const { log, last } = loggerWithLines()
    log.info({ promptTokens: 12, model: 'acme/swift', url: 'http://127.0.0.1:8080/v1' }, 'tokens')
    expect(last()).toMatchObject({ promptTokens: 12, model: 'acme/swift', url: 'http://127.0.0.1:8080/v1' })
  })
})
