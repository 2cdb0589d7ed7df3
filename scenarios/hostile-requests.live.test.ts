import type { StackKind } from '@gateway/testbed/stack-test'
import { randomBytes } from 'node:crypto'
import { describe, expect, inject } from 'vitest'
import { consoleRoutes } from '@gateway/api/console-routes'
import { gatewayRoutes } from '@gateway/api/gateway-routes'
import type { ApiRoute } from '@gateway/api/api-route'
import { liveStackTest } from './src/live-stack-test.ts'
import { consoleMatrix } from './src/isolation/console-matrix.ts'
import { gatewayMatrix } from './src/isolation/gateway-matrix.ts'
import { pathOf, type Asked } from './src/isolation/request-of.ts'
import { openIsolationFixture, users, type Ids } from './src/isolation/isolation-fixture.ts'

// Every route, called by an authorized caller with one hostile value in the request. No response may be a 5xx, and every refusal has
// a resolution. Outside of the full tier, each run draws some of the requests.

/** Separate services: sign-in attempts here count against the IP address that all tests share. */
const test = liveStackTest
  .extend('kind', { scope: 'file' }, (): StackKind => 'own')
  .extend('readers', { scope: 'file' }, ({ stack }) => openIsolationFixture(stack.fixture, stack.gateways[0]!.url))

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '💩'.repeat(300),
  'x'.repeat(70_000),
  '../../etc',
  '%',
  "' OR 1=1 --",
  '-1',
  '1e999',
]
const VALUES = [null, true, [], {}, [[]], { a: null }, -1, 0, 0.5, 2 ** 31, 2 ** 53, 1e308, ...TEXTS]
const BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '7',
  '[{}]',
  '{"__proto__":{"x":1}}',
  '{"constructor":null}',
  '['.repeat(50_000),
  '{"a":1}',
  '\ufeff{}',
  '{"\\ud800":1}',
]
const IDS = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%',
  '%F0%9F%92%A9',
  'x'.repeat(3_000),
  '..%2F..',
  '%20',
  "'",
  'prj_',
  '%7B%7D',
  '-1',
  '99999999999999999999',
]

/** Field names of the query and the body. */
interface Named {
  query: string[]
  fields: string[]
}

interface Hostile {
  says: string
  path: string
  body?: string
}

describe('hostile requests', () => {
  for (const { route, row, by, query, fields } of rows())
    test(`refuses hostile values in ${route} with a resolution or handles them harmlessly`, async ({
      stack,
      readers,
    }) => {
      const { url } = stack.gateways[0]!
      const method = route.split(' ')[0]!
      const isolation = method === 'GET' ? readers : await openIsolationFixture(stack.fixture, url)
      const { secret } = isolation.callers[by]
      const faults: string[] = []
      for (const { says, path, body } of hostileRequests(route, row, isolation.own, { query, fields })) {
        if (Math.random() >= inject('propertyShare')) continue
        const answer = await fetch(url + path, {
          method,
          redirect: 'manual',
          headers: {
            authorization: `Bearer ${secret}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...row.headers?.(isolation.own),
          },
          ...(body !== undefined && method !== 'GET' && { body }),
        })
        const text = await answer.text()
        const fault = faultOf(answer.status, text)
        if (fault) faults.push(`${says}: ${answer.status} ${fault} ${text.slice(0, 200)}`)
      }
      expect(faults).toEqual([])
    })
})

function faultOf(status: number, text: string): string | null {
  if (status < 400) return null
  if (status >= 500) return 'is a server error'
  const { jsonrpc, error } = jsonOf(text) as {
    jsonrpc?: string
    error?: { code?: unknown; message?: string; resolution?: string }
  }
  if (jsonrpc && error?.message) return null // JSON-RPC errors have no resolution
  if (!error?.code || !error.message || !error.resolution) return 'has no resolution'
  return /\.ts:\d+|node_modules|prisma|postgres|at [A-Za-z]+ \(/i.test(text) ? 'leaks internals' : null
}

function jsonOf(text: string): object {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    return {}
  }
}

function* hostileRequests(route: string, row: Asked, ids: Ids, { query, fields }: Named): Generator<Hostile> {
  const [method = '', pattern = ''] = route.split(' ')
  const path = pathOf(pattern, row, ids)
  const example = row.body?.(ids, randomBytes(6).toString('hex'))
  const sent = example === undefined || example instanceof Uint8Array ? {} : (example as Record<string, unknown>)
  const body = example === undefined ? {} : { body: JSON.stringify(sent) }
  for (const [parameter] of pattern.matchAll(/[:*]\w+/g))
    for (const id of IDS) {
      const others = pathOf(pattern.replace(parameter, '\u0001'), row, ids)
      yield { says: `${parameter} ${id.slice(0, 20)}`, path: others.replace('\u0001', id), ...body }
    }
  for (const name of [...query, 'strange']) {
    for (const text of TEXTS.filter((each) => each.length < 4_000)) {
      const value = text === '\ud800' ? '%ED%A0%80' : encodeURIComponent(text)
      yield { says: `?${name}=${value.slice(0, 20)}`, path: `${path}?${name}=${value}`, ...body }
    }
    yield { says: `?${name} twice`, path: `${path}?${name}=1&${name}=2`, ...body }
  }
  if (method === 'GET') return
  for (const raw of BODIES) yield { says: `body ${raw.slice(0, 20)}`, path, body: raw }
  for (const name of new Set([...Object.keys(sent), ...fields, 'strange']))
    for (const value of VALUES) {
      const said = JSON.stringify(value)
      yield { says: `${name}: ${said.slice(0, 20)}`, path, body: JSON.stringify({ ...sent, [name]: value }) }
    }
}

/** The routes, each with an authorized caller and the fields that a request may set. */
function rows() {
  const named = new Map(
    Object.values<ApiRoute>({ ...consoleRoutes, ...gatewayRoutes }).map(({ method, path, query, body }) => [
      `${method} ${path}`,
      { query: fieldsOf(query), fields: fieldsOf(body) },
    ]),
  )
  const namedIn = (route: string): Named =>
    named.get(route.replaceAll(/[:*](\w+)/g, '{$1}')) ?? { query: [], fields: [] }
  const ofConsole = Object.entries(consoleMatrix).map(([route, row]) => ({
    route,
    row: row as Asked,
    by: users.find((name) => row.says[name].startsWith('2')) ?? ('owner' as const),
    ...namedIn(route),
  }))
  const ofGateway = gatewayMatrix.map((row) => ({ route: row.route, row, by: 'key' as const, ...namedIn(row.route) }))
  return [...ofConsole, ...ofGateway.filter(({ route }, n, all) => all.findIndex((each) => each.route === route) === n)]
}

function fieldsOf(shape: ApiRoute['body']): string[] {
  return shape && 'shape' in shape ? Object.keys(shape.shape as object) : []
}
