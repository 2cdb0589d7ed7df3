import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ReadyFacts, readyScreen } from './ready-facts.ts'

const received: { url: string; authorization: string; accept: string; idempotencyKey: string; body: string }[] = []
const server = createServer((req, res) => {
  let body = ''
  req.on('data', (text) => (body += String(text)))
  req.on('end', () => {
    const { authorization = '', accept = '', 'idempotency-key': idempotencyKey = '' } = req.headers
    received.push({ url: req.url ?? '', authorization, accept, idempotencyKey: String(idempotencyKey), body })
    res.end('{}')
  })
})
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => void server.close())

const facts: ReadyFacts = {
  baseUrl: 'http://127.0.0.1:1',
  consoleUrl: 'http://127.0.0.1:1',
  consoleToken: 't',
  email: 'a@b.c',
  password: 'p',
  tenant: 'acme',
  project: 'prj',
  key: 'svc_abc',
  legacyKey: 'svc_old',
  otherProject: { project: 'prj2', key: 'svc_def' },
  models: ['acme/swift'],
  media: { image: 'acme/canvas', audio: 'acme/voice' },
  sandboxes: { chat: 'sbx-chat', mixed: 'sbx-mixed' },
  providerControl: 'http://127.0.0.1:2/control',
  metrics: [],
}

test('the three printed commands run unchanged in a shell', async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const text = readyScreen({ ...facts, baseUrl }, '.local/ready.json')
  const commands = text.split('\n').filter((line) => line.startsWith('curl '))
  for (const command of commands) await promisify(execFile)('sh', ['-c', command])
  expect(received.map(({ url }) => url)).toEqual(['/v1/models', '/v1/chat/completions', '/v1/sandbox/sbx-mixed/invoke'])
  expect(received.every(({ authorization }) => authorization === 'Bearer svc_abc')).toBe(true)
  const [, completion, invoke] = received
  expect(JSON.parse(completion!.body)).toMatchObject({ model: 'acme/swift' })
  expect(JSON.parse(invoke!.body)).toEqual({ input: { topic: 'the sea', tone: 'dry' } })
  expect(invoke).toMatchObject({
    accept: 'application/x-ndjson',
    idempotencyKey: expect.stringMatching(/^try-it-\d+$/),
  })
  expect(text).toContain(`${baseUrl}/console`)
})

test('prints no password that the user has replaced', () => {
  expect(readyScreen({ ...facts, password: null }, '.local/ready.json')).toContain('(a@b.c, with the password you set)')
})

test('prints no command for a flow that was not made', () => {
  expect(readyScreen({ ...facts, sandboxes: null }, '.local/ready.json')).not.toMatch(/sandbox|null/)
})
