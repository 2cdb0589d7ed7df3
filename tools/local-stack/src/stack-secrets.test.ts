import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

test('a file that gets a new secret is replaced as a whole, so that a kill leaves the earlier one', () => {
  const { capture: _, ...earlier } = keepSecrets(folder)
  const file = path.join(folder, 'secrets.json')
  writeFileSync(file, JSON.stringify(earlier))
  const opened = openSync(file, 'r')
  keepSecrets(folder)
  expect(JSON.parse(readFileSync(opened, 'utf8'))).toEqual(earlier)
  closeSync(opened)
  expect(readdirSync(folder)).toEqual(['secrets.json'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test.each(['', '{', '{"services":{}}'])(
  'a file with the content %o is reported with a resolution and left alone',
  (content) => {
    const file = path.join(folder, 'secrets.json')
    writeFileSync(file, content)
    expect(() => keepSecrets(folder)).toThrow(
      `${file} is damaged. Restore it from a backup. If there is none, remove it to generate new secrets: ` +
        'the secrets of webhooks and of authenticator apps, and captured prompts and answers, then stay unreadable.',
    )
    expect(readFileSync(file, 'utf8')).toBe(content)
  },
)
