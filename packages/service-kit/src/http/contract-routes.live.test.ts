import type { RequestHandler } from 'express'
import type { ApiRoute } from '@gateway/api/api-route'
import { expect, expectTypeOf, test } from 'vitest'
import { contractRoutes, mountRoutes, notFound, openApp } from './routes.ts'
import { serve } from './serve.fixture.ts'

const row = { tag: '', summary: '', by: 'key', answers: {} } as const
const rows = {
  listThings: { ...row, method: 'GET', path: '/things' },
  createThing: { ...row, method: 'POST', path: '/things', by: 'anyone' },
  readPart: { ...row, method: 'GET', path: '/things/{thing}/parts/{part}' },
  readFile: { ...row, method: 'GET', path: '/files/{name}', restParameter: 'name' },
} as const satisfies Record<string, ApiRoute>

const echo: RequestHandler = ({ method, path, params }, res) => void res.json([method, path, params])
const handlers = { listThings: echo, createThing: echo, readPart: echo, readFile: echo }
const pathsOf = (routes: ReturnType<typeof contractRoutes>) => routes.map(([method, path]) => `${method} ${path}`)

// spec: can/console-api
test('mounts each row with the handler of its operation and the parameter names of the row', async () => {
  const app = openApp()
  mountRoutes(app, contractRoutes(rows, handlers))
  const { url } = await serve(app)
  const ask = async (method: string, path: string) => (await fetch(url + path, { method })).json()
  expect(await ask('POST', '/things')).toEqual(['POST', '/things', {}])
  expect(await ask('GET', '/things/a/parts/b%2Fc')).toEqual([
    'GET',
    '/things/a/parts/b%2Fc',
    { thing: 'a', part: 'b/c' },
  ])
  expect(await ask('GET', '/files/a/b')).toEqual(['GET', '/files/a/b', { name: ['a', 'b'] }])
})

test('mounts no route for an operation without a handler here', async () => {
  expect(pathsOf(contractRoutes(rows, { ...handlers, readFile: null, listThings: null }))).toEqual([
    'POST /things',
    'GET /things/:thing/parts/:part',
  ])
})

test('mounts only the rows that a filter selects', () => {
  expect(pathsOf(contractRoutes(rows, handlers, ({ by }) => by === 'anyone'))).toEqual(['POST /things'])
})

test('an operation without a handler does not compile', () => {
  type Handlers = Parameters<typeof contractRoutes<keyof typeof rows>>[1]
  expectTypeOf<typeof handlers>().toExtend<Handlers>()
  expectTypeOf<Omit<typeof handlers, 'readFile'>>().not.toExtend<Handlers>()
  expectTypeOf(notFound).toExtend<Handlers['readFile']>()
})
