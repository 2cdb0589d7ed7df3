import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import express, { type ErrorRequestHandler } from 'express'
import type { Refusal } from '@gateway/api/refusal'
import { expect, test as base } from 'vitest'
import { openConsoleProxy, type ConsoleProxy } from './console-proxy.ts'

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('serve', ({}, { onCleanup }) => {
    const servers: Server[] = []
    onCleanup(() => {
      for (const server of servers) server.close().closeAllConnections()
    })
    return async (listener: RequestListener) => {
      const server = createServer(listener).listen(0, '127.0.0.1')
      servers.push(server)
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    }
  })
  .extend('forwardTo', ({ serve }, { onCleanup }) => {
    const proxies: ConsoleProxy[] = []
    onCleanup(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))))
    return (consoleUrl: string) => {
      const proxy = openConsoleProxy(consoleUrl)
      proxies.push(proxy)
      const app = express()
      app.use((_req, res, next) => {
        res.setHeader('X-Request-Id', 'req_1')
        next()
      })
      app.use('/api/v2', proxy.forward)
      app.use(((error: Refusal, _req, res, _next) => {
        res.status(error.status).json(error.body)
      }) satisfies ErrorRequestHandler)
      return serve(app)
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
