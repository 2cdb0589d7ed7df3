import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { consoleRoutes } from '@gateway/api/console-routes'
import { refuse, type Refusal } from '@gateway/api/refusal'
import { answerErrors, answerOfRefusal } from '@gateway/service-kit/http/answers'
import { contractRoutes, mountRoutes, openApp } from '@gateway/service-kit/http/routes'
import { expect, onTestFinished, test } from 'vitest'
import { requestHandlers, type Handlers } from './call.ts'

/** Starts a server with these handlers; its client returns status, code and field of a refusal, otherwise the body. */
async function serving(handlers: Partial<Handlers>) {
  const app = openApp()
  mountRoutes(
    app,
    contractRoutes(
      consoleRoutes,
      requestHandlers(handlers as Handlers, async () => {}),
    ),
  )
  app.use(answerErrors((error) => answerOfRefusal(error as Refusal)))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (method: string, path: string, body?: string) => {
    const answer = await fetch(url + path, { method, ...(body !== undefined && { body }) })
    const json = (await answer.json()) as { error?: { code: string; param: string | null } }
    return json.error ? [answer.status, json.error.code, json.error.param] : json
  }
}

test('a handler receives ids, query and body parsed by the route table entry of its operation', async () => {
  const seen: unknown[] = []
  const ask = await serving({
    listKeys: (call, res) => {
      seen.push([call.id('tenant'), call.query()])
      res.json({ data: [], nextCursor: null })
    },
    rotateKey: async (call) => {
      seen.push([call.id('key'), await call.body(), await call.sentBody()])
      throw refuse('not_found', {})
    },
  })
  await ask('GET', '/api/v2/tenants/a%20b/keys?project=prj_1&limit=5')
  await ask('POST', '/api/v2/tenants/ten_1/keys/key_1/rotate', '')
  expect(seen).toEqual([
    ['a b', { project: 'prj_1', limit: 5 }],
    ['key_1', { graceSeconds: 0 }, {}],
  ])
})

test('validates query and body only when the handler reads them [invalid_request] [not_found]', async () => {
  const ask = await serving({
    listTeams: (call) => {
      if (call.id('tenant') === 'closed') throw refuse('not_permitted', { need: 'more' })
      call.query()
    },
    createTeam: async (call) => {
      if (call.id('tenant') === 'closed') throw refuse('not_permitted', { need: 'more' })
      await call.body()
    },
  })
  expect(await ask('GET', '/api/v2/tenants/closed/teams?limit=0')).toEqual([403, 'not_permitted', null])
  expect(await ask('GET', '/api/v2/tenants/open/teams?limit=0')).toEqual([400, 'invalid_request', 'limit'])
  expect(await ask('GET', '/api/v2/tenants/open/teams?other=1')).toEqual([400, 'invalid_request', 'other'])
  expect(await ask('GET', '/api/v2/tenants/%00/teams')).toEqual([404, 'not_found', null])
  expect(await ask('POST', '/api/v2/tenants/closed/teams', 'no JSON')).toEqual([403, 'not_permitted', null])
  expect(await ask('POST', '/api/v2/tenants/open/teams', 'no JSON')).toEqual([400, 'invalid_json', null])
  expect(await ask('POST', '/api/v2/tenants/open/teams', '{"name":""}')).toEqual([400, 'invalid_request', 'name'])
})

test('a route can allow larger bodies than the others [request_too_large]', async () => {
  const ask = await serving({
    createTeam: async (call) => void (await call.body()),
    saveRevision: async (call) => void (await call.body()),
  })
  const large = JSON.stringify({ name: 'x'.repeat(300_000) })
  expect(await ask('POST', '/api/v2/tenants/ten_1/teams', large)).toEqual([413, 'request_too_large', null])
  const graph = await ask('POST', '/api/v2/tenants/ten_1/sandboxes/sbx-1/revisions', large)
  expect(graph).toEqual([400, 'invalid_request', 'graph'])
})
