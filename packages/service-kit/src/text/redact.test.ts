import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../process/logger.ts'
import { plantSecrets, type PlantedSecret } from '@gateway/testbed/planted-secrets'
import { oneLine, redactAnswer, redactedJson, redactForms, redactText } from './redact.ts'

const planted = plantSecrets()
const byForm = planted.filter(({ byName }) => byName === undefined)

function loggedBy(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = []
  write(createLogger({ service: 'gateway', level: 'trace', to: { write: (line: string) => void lines.push(line) } }))
  for (const line of lines) JSON.parse(line) // still valid
  return lines.join('')
}

const words = fc.stringMatching(/^[ -~\n]{0,40}$/)
/** Fields of a value: `"name": text`, in as many layers of JSON inside a string as wanted. */
function inLayers(name: string, text: string, layers: number): string {
  let value: unknown = { [name]: text, other: 1 }
  for (let layer = 0; layer < layers; layer++) value = { body: JSON.stringify(value) }
  return JSON.stringify(value)
}

/** Texts in which a secret stands, as requests, responses of providers and exceptions have them. */
const around: Record<string, (one: PlantedSecret, before: string, after: string) => string> = {
  'a text': ({ text, byName }, before, after) => `${before} ${byName ? `${byName}=` : ''}${text} ${after}`,
  'a line of a text': ({ text, byName }, before, after) => `${before}\n${byName ? `${byName}: ` : ''}${text}\n${after}`,
  'JSON in a text': ({ text, byName = 'value' }, before, after) => `${before} ${inLayers(byName, text, 0)} ${after}`,
  'JSON in JSON in a text': ({ text, byName = 'value' }, before) => `${before} ${inLayers(byName, text, 1)}`,
  'JSON in JSON in JSON': ({ text, byName = 'value' }) => inLayers(byName, text, 2),
  'an inspected object': ({ text, byName = 'value' }, before) =>
    `${before} { '${byName}': '${text.replaceAll('\n', '\\n')}' }`,
  'raw headers': ({ text, byName = 'x' }) => JSON.stringify([byName, text, 'accept', '*/*']),
}

describe.each(planted.map((one) => [one.kind, one] as const))('%s', (_kind, one) => {
  test.each(Object.keys(around))('is not logged in %s', (form) => {
    fc.assert(
      fc.property(words, words, fc.integer({ min: 0, max: 3 }), (before, after, place) => {
        const text = around[form]!(one, before, after)
        const logged = loggedBy((log) => {
          if (place === 0) log.info(text)
          else if (place === 1) log.warn({ deep: { list: [{ text }] } }, 'a field')
          else if (place === 2) log.error({ err: new Error(text, { cause: new TypeError(text) }) }, 'an exception')
          else log.fatal({ err: Object.assign(new Error('x'), { response: { body: text } }) }, 'a crash')
        })
        expect(logged).not.toContain(one.secret)
        expect(redactText(text)).not.toContain(one.secret)
      }),
      { numRuns: 25 },
    )
  })

  test('is not logged under a key that names it, as a text, a list or an object', () => {
    const name = one.byName ?? 'credential'
    for (const value of [one.text, [one.text], { inner: [{ deep: one.text }] }])
      expect(loggedBy((log) => log.info({ facts: { [name]: value, after: 'shown' } }, 'line'))).not.toContain(
        one.secret,
      )
    expect(loggedBy((log) => log.info({ [name]: [1], after: 'shown' }, 'line'))).toContain('shown')
  })

  test('is not in the traced content of a call', () => {
    const messages = [{ role: 'user', content: `use this\n${one.byName ? `${one.byName}=` : ''}${one.text}` }]
    const shown = redactedJson(messages)
    expect(shown).not.toContain(one.secret)
    expect(JSON.parse(shown)).toMatchObject([{ role: 'user' }])
  })
})

test.each(byForm.map((one) => [one.kind, one] as const))(
  '%s is not repeated by an error response',
  (_kind, { text, secret }) => {
    for (const [before, after] of [
      ['There is no model ', '.'],
      ['"', '"'],
      ['', ''],
    ]) {
      const shown = redactAnswer(
        JSON.stringify({ error: { code: 'x', message: before + text + after, details: [text] } }),
      )
      expect(shown).not.toContain(secret)
      expect(JSON.parse(shown)).toMatchObject({ error: { code: 'x' } })
    }
  },
)

test.each([
  'The field "token" is not known.',
  'password: expected a text',
  'max_tokens=100 and tokens: 12',
  'https://models.example.com/docs?page=2#tokens',
  'http://127.0.0.1:8080/v1',
  'task-scheduler-loop at ledger:8080, mail to user@example.com',
  'sign in with a secret or a cookie',
])('leaves an ordinary text unchanged: %s', (text) => {
  expect(redactText(text)).toBe(text)
  expect(redactForms(text)).toBe(text)
})

test.each(['aws_secret_access_key: ', 'password=', 'x-api-key: '])(
  'hides a key of letters alone behind %j, which is longer than words are',
  (name) => {
    expect(redactText(`${name}${'qgMQrQHQxJmIXBkL'.repeat(2)} and more`)).toBe(`${name}[redacted] and more`)
  },
)

test('a string of a log line is cut to 4 KB, and never within a secret', () => {
  const { text, secret } = planted[3]!
  for (let at = 4_000; at < 4_110; at++) {
    const logged = loggedBy((log) => log.info({ text: `${'.'.repeat(at)}${text} ${'.'.repeat(9_000)}` }))
    expect(logged.length).toBeLessThan(4_400)
    for (let length = 12; length <= secret.length; length++) expect(logged).not.toContain(secret.slice(0, length))
  }
})

// Quadratic time for any of these would take hours.
test.each([
  'token',
  'token=',
  'token:',
  '"token":"',
  '\\"token\\":\\"',
  'authorization: ',
  'sk-',
  'sk-aaaaaaaa',
  'eyJ',
  'eyJaaaaaaaa.',
  '://',
  '://a:',
  'a@',
  '://a@',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  '\\',
  '\\"',
  '"',
  'bearer ',
  '{"a":[',
])('the time is linear in the length of a text of %j', (part) => {
  const text = part.repeat(500_000 / part.length)
  expect(typeof redactText(text)).toBe('string')
  expect(JSON.parse(redactedJson({ text }))).toHaveProperty('text')
  expect(JSON.parse(redactAnswer(JSON.stringify({ text })))).toHaveProperty('text')
  expect(loggedBy((log) => log.info({ text, err: new Error(text) }, text)).length).toBeLessThan(40_000)
})

test.for<[text: string, line: string]>([
  ['Acme\r\nBcc: a', 'Acme Bcc: a'],
  ['see https://example.com/login', 'see https: //example. com/login'],
  ['café.com/login', 'café. com/login'],
  ['cafe\u0301.com', 'cafe\u0301. com'],
  ['bank.рф', 'bank. рф'],
  ['例え.テスト', '例え. テスト'],
  ['例え。テスト', '例え。 テスト'],
  ['bank．com', 'bank． com'],
  ['bank｡com', 'bank｡ com'],
  ['i❤.ws', 'i❤. ws'],
  ['👍🏽.ws', '👍🏽. ws'],
  ['∞.ws', '∞. ws'],
  ['exam\u200bple.com', 'exam ple. com'],
  ['Acme Inc. (north)...', 'Acme Inc. (north)...'],
])('makes a line without links of %j', ([text, line]) => {
  expect(oneLine(text)).toBe(line)
})
