import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepSecrets } from './stack-secrets.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'secrets-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('secrets are created once, all different, readable only by this user', () => {
  const made = keepSecrets(folder)
  const keys = Object.values(made.services).flatMap(({ privateKey, publicKey }) => [privateKey, publicKey])
  const all = [
    ...keys,
    ...Object.values(made.databaseRoles),
    made.redis,
    made.webhooks,
    made.secondFactors,
    made.capture,
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(all.every((secret) => secret.length >= 32)).toBe(true)
  expect(statSync(path.join(folder, 'secrets.json')).mode & 0o777).toBe(0o600)
  expect(keepSecrets(folder)).toEqual(made)
})

test('a secret that is missing in an older file is created and kept', () => {
  const { webhooks, ...earlier } = keepSecrets(folder)
  writeFileSync(path.join(folder, 'secrets.json'), JSON.stringify(earlier))
  const made = keepSecrets(folder)
  expect(made).toEqual({ ...earlier, webhooks: expect.stringMatching(/^.{32,}$/) })
  expect(made.webhooks).not.toBe(webhooks)
  expect(keepSecrets(folder)).toEqual(made)
})

test.each(['', '{', '{"services":{}}'])(
  'a file with the content %o is reported with a resolution and left alone',
  (content) => {
    const file = path.join(folder, 'secrets.json')
    writeFileSync(file, content)
    expect(() => keepSecrets(folder)).toThrow('Remove it to generate new secrets.')
    expect(readFileSync(file, 'utf8')).toBe(content)
  },
)
