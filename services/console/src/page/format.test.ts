import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

// What the page counts and writes, run here as the browser runs it.

interface Format {
  usd(micro: number): string
  microOf(text: string): number | null
  count(number: number): string
  limitText(limit: { micro: number; reset: string } | null): string
  stateText(state: string): string
  curlCommand(baseUrl: string, secret: string, model: string | undefined): string
  curlInvoke(baseUrl: string, sandbox: string, input: object): string
}
const file = pathToFileURL(path.join(import.meta.dirname, 'files/format.js')).href
const { usd, microOf, count, limitText, stateText, curlCommand, curlInvoke } = (await import(
  /* @vite-ignore */ file
)) as Format

test.for([
  [0, '$0.00'],
  [1, '$0.000001'],
  [10_000, '$0.01'],
  [4_999_120, '$4.99912'],
  [100_000_000, '$100.00'],
  [1_234_567_890_123, '$1,234,567.890123'],
  [Number.MAX_SAFE_INTEGER, '$9,007,199,254.740991'],
  [-2_500_000, '−$2.50'],
] as const)('%d micro-USD are %s, to the last digit', ([micro, text]) => {
  expect(usd(micro)).toBe(text)
})

test.for([
  ['5', 5_000_000],
  [' 0.25 ', 250_000],
  ['$1,5', 1_500_000],
  ['0.000001', 1],
  ['0.0000001', null],
  ['', null],
  ['-1', null],
  ['1e3', null],
  ['five', null],
] as const)('%j is %s micro-USD', ([text, micro]) => {
  expect(microOf(text)).toBe(micro)
})

test('counts, limits and states read as people write them', () => {
  expect(count(1_234_567)).toBe('1,234,567')
  expect(limitText({ micro: 5_000_000, reset: 'daily' })).toBe('$5.00 a day')
  expect(limitText(null)).toBe('none')
  expect(stateText('NeedsReissue')).toBe('Needs reissue')
})

test('the command is safe against whatever a model is called', () => {
  const command = curlCommand('https://models.example.test', 'svc_1', `it's "so"`)
  expect(command).toContain(String.raw`it'\''s \"so\"`)
  expect(command).toMatch(/^curl 'https:\/\/models\.example\.test\/v1\/chat\/completions' \\\n/)
  expect(curlCommand('https://x.test', 'svc_1', undefined)).toContain("'https://x.test/v1/models'")
})

test('the command for a flow asks for a key and takes a new idempotency key each time', () => {
  const command = curlInvoke('https://x.test', 'sbx-1', { text: "it's" })
  expect(command).toContain("curl 'https://x.test/v1/sandbox/sbx-1/invoke'")
  expect(command).toContain('-H "Idempotency-Key: try-it-$(date +%s)"')
  expect(command).toContain(String.raw`-d '{"input":{"text":"it'\''s"}}'`)
})
