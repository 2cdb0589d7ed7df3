import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import express, { type ErrorRequestHandler } from 'express'
import type { Refusal } from '@gateway/api/refusal'
import { expect, onTestFinished, test as base } from 'vitest'
import { type ConnectionSettings, guardConnections, trustProxies } from '@gateway/service-kit/http/connections'
import { openConsoleProxy, type ConsoleProxy } from './console-proxy.ts'

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('serve', ({}, { onCleanup }) => {
    const servers: Server[] = []
    onCleanup(() => {
      for (const server of servers) server.close().closeAllConnections()
    })
    return async (listener: RequestListener, guarded: ConnectionSettings | null = null) => {
      const server = createServer(listener).listen(0, '127.0.0.1')
      if (guarded) guardConnections(server, guarded)
      servers.push(server)
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    }
  })
  .extend('forwardTo', ({ serve }, { onCleanup }) => {
    const proxies: ConsoleProxy[] = []
    onCleanup(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))))
    return (consoleUrl: string, guarded: ConnectionSettings | null = null, trusted: string[] = []) => {
      const proxy = openConsoleProxy(consoleUrl, {
        MAX_CONCURRENT_CONSOLE_REQUESTS: 16,
        MAX_CONCURRENT_CONSOLE_REQUESTS_PER_USER: 4,
      })
      proxies.push(proxy)
      const app = express()
      trustProxies(app, trusted)
      app.use((_req, res, next) => {
        res.setHeader('X-Request-Id', 'req_1')
        next()
      })
      app.use('/api/v2', proxy.forward)
      app.use(((error: Refusal, _req, res, _next) => {
        res.status(error.status).json(error.body)
      }) satisfies ErrorRequestHandler)
      return serve(app, guarded)
    }
  })

test('forwards requests and responses unchanged except for hop-by-hop headers', async ({ serve, forwardTo }) => {
  const consoleUrl = await serve(async (req, res) => {
    const { method, url, headers } = req
    res.writeHead(201, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Request-Id': 'theirs', Connection: 'close' })
    res.end(JSON.stringify({ method, url, headers, bytes: (await buffer(req)).length }))
  })
  const answer = await fetch(`${await forwardTo(consoleUrl)}/api/v2/tenants/t%2F1?x=1`, {
    method: 'PUT',
    body: 'x'.repeat(300_000),
    headers: { authorization: 'Bearer svu_1', 'x-forwarded-for': '9.9.9.9', te: 'trailers' },
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(answer.headers.get('x-request-id')).toBe('req_1')
  const seen = (await answer.json()) as { headers: Record<string, string> }
  expect(seen).toMatchObject({ method: 'PUT', url: '/api/v2/tenants/t%2F1?x=1', bytes: 300_000 })
  expect(seen.headers).toMatchObject({
    authorization: 'Bearer svu_1',
    'x-request-id': 'req_1',
    'x-forwarded-for': '127.0.0.1', // not the address the caller claims
  })
  expect(seen.headers).not.toHaveProperty('te')
})

test.for([
  ['a trusted proxy', 'https', ['loopback']],
  ['any other peer', 'http', []],
] as const)('forwards the X-Forwarded-Proto of %s as %s', async ([, proto, trusted], { serve, forwardTo }) => {
  const consoleUrl = await serve((req, res) => void res.end(req.headers['x-forwarded-proto']))
  const url = await forwardTo(consoleUrl, null, [...trusted])
  const answer = await fetch(`${url}/api/v2/x`, { headers: { 'x-forwarded-proto': 'https' } })
  expect(await answer.text()).toBe(proto)
})

test('streams the response body', async ({ serve, forwardTo }) => {
  const finish = Promise.withResolvers<void>()
  const consoleUrl = await serve((_req, res) => {
    res.write('first')
    void finish.promise.then(() => res.end(' last'))
  })
  const answer = await fetch(`${await forwardTo(consoleUrl)}/api/v2/x`)
  const reader = answer.body!.getReader()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('first')
  finish.resolve()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(' last')
})

test('returns a single 503 if the console drops the connection [unavailable]', async ({ serve, forwardTo }) => {
  const url = await serve((_req, res) => res.destroy())
  const answer = await fetch(`${await forwardTo(url)}/api/v2/me`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ code: 'unavailable' })
})

test('reads the next request of a connection after one that the console answered before its body had arrived', async ({
  serve,
  forwardTo,
}) => {
  const consoleUrl = await serve((req, res) => {
    if (req.method === 'GET') return void res.end('next')
    req.once('data', () => res.writeHead(401).end()) // the rest is left to the proxy
  })
  const url = await forwardTo(consoleUrl)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = async (method: string, body: Buffer | null) => {
    const sent = request(`${url}/api/v2/x`, { agent, method, signal: AbortSignal.timeout(5_000) })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return [answer.statusCode, (await buffer(answer)).toString()]
  }
  for (let n = 0; n < 20; n++) {
    expect(await ask('POST', Buffer.alloc(512_000))).toEqual([401, ''])
    expect(await ask('GET', null)).toEqual([200, 'next'])
  }
})

test('aborts the request to the console if the caller disconnects', async ({ serve, forwardTo }) => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const consoleUrl = await serve((_req, res) => {
    res.once('close', () => left.resolve())
    arrived.resolve()
  })
  const caller = new AbortController()
  const answer = fetch(`${await forwardTo(consoleUrl)}/api/v2/x`, { signal: caller.signal }).catch(() => {})
  await arrived.promise
  caller.abort()
  await Promise.all([answer, left.promise])
})

/** A console that knows the token `svu_1`, and holds each request until it is released. */
function heldConsole() {
  const held: (() => void)[] = []
  let arrived = 0
  let onArrival = () => {}
  return {
    listener: ((req, res) => {
      if (req.headers.authorization === 'Bearer svu_1') res.setHeader('X-Service-Caller', 'usr_1')
      else res.statusCode = 401
      if (req.url?.endsWith('/held') || req.url?.endsWith('/revoke')) held.push(() => res.end('{}'))
      else res.end('{}')
      arrived++
      onArrival()
    }) satisfies RequestListener,
    release: () => held.splice(0).forEach((end) => end()),
    async untilArrived(count: number) {
      while (arrived < count) await new Promise<void>((resolve) => (onArrival = resolve))
      arrived = 0
    },
  }
}

const signedIn = { authorization: 'Bearer svu_1' }

test('refuses a user beyond their requests, and neither another caller nor a revocation [overloaded]', async ({
  serve,
  forwardTo,
}) => {
  const console = heldConsole()
  const url = await forwardTo(await serve(console.listener))
  const ask = (path: string, init?: RequestInit) => fetch(`${url}/api/v2${path}`, { headers: signedIn, ...init })
  expect((await ask('/me')).headers.has('X-Service-Caller')).toBe(false)
  const held = Array.from({ length: 4 }, () => ask('/held'))
  await console.untilArrived(5)
  const refused = await ask('/me')
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    code: 'overloaded',
    resolution: 'Wait until one of them is answered, then send this request again.',
  })
  expect((await ask('/me', { headers: {} })).status).toBe(401) // from the console
  const revoked = ask('/tenants/ten_1/keys/key_1/revoke', { method: 'POST' })
  await console.untilArrived(2)
  console.release()
  expect((await revoked).status).toBe(200)
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await ask('/me')).status).toBe(200)
})

test('lets one address hold most permits of unknown callers, and signed-in users have theirs [overloaded]', async ({
  serve,
  forwardTo,
}) => {
  const console = heldConsole()
  const url = await forwardTo(await serve(console.listener))
  const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(`${url}/api/v2${path}`, { headers, method })
  expect((await ask('/me', signedIn)).status).toBe(200)
  await console.untilArrived(1)
  const held = Array.from({ length: 13 }, (_, n) => ask('/held', { authorization: `Bearer forged-${n}` }))
  await console.untilArrived(13)
  expect((await ask('/me', { authorization: 'Bearer forged' })).status).toBe(503)
  expect((await ask('/tenants/ten_1/keys/key_1/revoke', { authorization: 'Bearer forged' }, 'POST')).status).toBe(503)
  expect((await ask('/me', signedIn)).status).toBe(200)
  console.release()
  await Promise.all(held)
})

test('counts the unknown callers of an IPv6 /64 as one address [overloaded]', async ({ serve, forwardTo }) => {
  const console = heldConsole()
  const url = await forwardTo(await serve(console.listener), null, ['loopback'])
  const ask = (path: string, from: string) => fetch(`${url}/api/v2${path}`, { headers: { 'x-forwarded-for': from } })
  const held = Array.from({ length: 13 }, (_, n) => ask('/held', `2001:db8::${n + 1}`))
  await console.untilArrived(13)
  expect((await ask('/me', '2001:db8::beef')).status).toBe(503)
  expect((await ask('/me', '2001:db8:0:1::1')).status).toBe(401) // from the console
  console.release()
  await Promise.all(held)
})

test('keeps the connections of signed-in callers when unknown callers of their address exceed their limit', async ({
  serve,
  forwardTo,
}) => {
  const console = heldConsole()
  const limits = { isTrustedProxy: () => false, maxUnauthenticated: 2 }
  const url = new URL(await forwardTo(await serve(console.listener), limits))
  const open = () => new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (agent: Agent, headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const req = request(new URL('/api/v2/me', url), { agent, headers }, (res) => {
        res.resume().on('end', () => resolve(`${res.statusCode} on a ${req.reusedSocket ? 'kept' : 'new'} connection`))
      })
      req.on('error', () => resolve('connection lost')).end()
    })
  const known = Array.from({ length: 3 }, open)
  for (const agent of known) expect(await ask(agent, signedIn)).toBe('200 on a new connection')
  const unknown = Array.from({ length: 3 }, open)
  for (const agent of unknown) expect(await ask(agent, {})).toBe('401 on a new connection')
  for (const agent of known) expect(await ask(agent, signedIn)).toBe('200 on a kept connection')
  expect(await ask(unknown[0]!, {})).not.toBe('401 on a kept connection') // it was closed for the third
  for (const agent of [...known, ...unknown]) agent.destroy()
})
