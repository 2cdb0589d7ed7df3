import { expect, test } from 'vitest'
import { startHttpServer } from './http-server.ts'

const address = { host: '127.0.0.1', port: 0, drainMs: 5_000 }

test('finishes open responses before it stops, and keeps no connection open', async () => {
  const arrived = Promise.withResolvers<() => void>()
  const http = await startHttpServer((_req, res) => arrived.resolve(() => void res.end('whole')), address)
  const answer = fetch(http.url)
  const finish = await arrived.promise
  const stopped = http.stop()
  finish()
  expect(await (await answer).text()).toBe('whole')
  await stopped
  expect(http.server.listening).toBe(false)
})

test('closes connections that are still open when the time is up', async () => {
  const http = await startHttpServer((_req, res) => void res.write('half'), { ...address, drainMs: 1 })
  const answer = await fetch(http.url)
  await http.stop()
  await expect(answer.text()).rejects.toThrow()
})

test('reports a port in use in one message that names the variable', async () => {
  const first = await startHttpServer((_req, res) => void res.end(), address)
  await expect(startHttpServer((_req, res) => void res.end(), { ...address, port: first.port })).rejects.toThrow(
    `PORT: ${first.port} on 127.0.0.1 is taken.`,
  )
  await first.stop()
})

test.each([
  [{ certificate: 'c', privateKey: undefined }, 'TLS_PRIVATE_KEY is missing: the other one needs it.'],
  [{ certificate: undefined, privateKey: 'k' }, 'TLS_CERTIFICATE is missing: the other one needs it.'],
  [
    { certificate: 'c', privateKey: 'k-secret' },
    /^TLS_CERTIFICATE and TLS_PRIVATE_KEY can't be used together: ERR_\w+\.$/,
  ],
])('reports a certificate that cannot be used, without the key', async (tls, message) => {
  await expect(startHttpServer((_req, res) => void res.end(), { ...address, tls })).rejects.toThrow(message)
})
