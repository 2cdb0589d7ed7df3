import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigurationError, type Environment, flag, httpUrl, json, port, readConfig, sharedSecret } from './config.ts'

const schema = z.object({
  PORT: port().default(8080).meta({ description: 'Port to listen on' }),
  LEDGER_URL: httpUrl().meta({ description: 'Base address of the ledger' }),
  WEBHOOK_KEY: sharedSecret().meta({ description: 'Secret shared with the ledger', secret: true }),
  VERBOSE: flag().optional().meta({ description: 'Say more' }),
  PROVIDERS: json(z.record(z.string(), z.object({ baseUrl: httpUrl() })))
    .default({})
    .meta({ description: 'Who serves the products' }),
})
const right = { LEDGER_URL: 'http://127.0.0.1:9000/', WEBHOOK_KEY: 's'.repeat(32) }

function problemsOf(env: Environment): readonly string[] {
  try {
    readConfig(schema, env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
  return []
}

describe('readConfig', () => {
  test('parses text into typed values and fills in defaults', () => {
    const env = { ...right, VERBOSE: '1', PROVIDERS: '{"a":{"baseUrl":"http://a/v1"}}', UNRELATED: 'x' }
    expect(readConfig(schema, env)).toEqual({
      PORT: 8080,
      LEDGER_URL: 'http://127.0.0.1:9000',
      WEBHOOK_KEY: 's'.repeat(32),
      VERBOSE: true,
      PROVIDERS: { a: { baseUrl: 'http://a/v1' } },
    })
  })

  test('reports every problem at once, one sentence per variable with its name, purpose and fault', () => {
    const problems = problemsOf({
      PORT: 'eighty',
      PROVIDERS: '{"a":{"baseUrl":"ftp://a"}}',
      WEBHOOK_KEY: 's'.repeat(32),
    })
    expect(problems).toEqual([
      'PORT (Port to listen on) is wrong: expected a whole number from 0 to 65535; it is "eighty".',
      'LEDGER_URL (Base address of the ledger) is missing: set LEDGER_URL, or LEDGER_URL_FILE to a file that holds it.',
      'PROVIDERS (Who serves the products) is wrong: at a.baseUrl: expected an address that starts with http:// or https://; it is "{"a":{"baseUrl":"ftp://a"}}".',
    ])
  })

  test('never shows a secret, not even an invalid one', () => {
    const problems = problemsOf({ ...right, WEBHOOK_KEY: 'hunter2' })
    expect(problems).toEqual(['WEBHOOK_KEY (Secret shared with the ledger) is wrong: expected at least 32 characters.'])
  })

  test.each(['65536', '-1', '80.5', '0x50', '1e3', ' 80'])('refuses %o as a port', (text) => {
    expect(problemsOf({ ...right, PORT: text })).toHaveLength(1)
  })

  test('treats an empty value as absent', () => {
    expect(readConfig(schema, { ...right, PORT: '' }).PORT).toBe(8080)
    expect(problemsOf({ ...right, LEDGER_URL: '' })[0]).toContain('is missing')
  })

  test('reads a value from the file named in NAME_FILE, without its final line break', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'secret')
    writeFileSync(file, `${'f'.repeat(40)}\n`)
    const { WEBHOOK_KEY: _, ...others } = right
    expect(readConfig(schema, { ...others, WEBHOOK_KEY_FILE: file }).WEBHOOK_KEY).toBe('f'.repeat(40))
  })

  test('names a file that cannot be read', () => {
    const { WEBHOOK_KEY: _, ...others } = right
    expect(problemsOf({ ...others, WEBHOOK_KEY_FILE: '/does/not/exist' })).toEqual([
      "WEBHOOK_KEY (Secret shared with the ledger) can't be read from /does/not/exist (WEBHOOK_KEY_FILE): ENOENT.",
    ])
  })

  test('refuses a variable set both directly and by file', () => {
    expect(problemsOf({ ...right, PORT: '1', PORT_FILE: '/x' })).toEqual([
      'PORT (Port to listen on) is given twice: unset either PORT or PORT_FILE.',
    ])
  })

  test('passes on the message of a rule over several variables', () => {
    const both = z
      .object({ A: z.string().optional(), B: z.string().optional() })
      .refine((v) => v.A ?? v.B, 'Set A or B.')
    expect(() => readConfig(both, {})).toThrow('Set A or B.')
  })
})
