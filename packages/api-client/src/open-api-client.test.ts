import { expectTypeOf, test } from 'vitest'
import type { KeyRecord } from '@gateway/api/console/keys'
import type { MemberRecord } from '@gateway/api/console/users'
import type { Page } from '@gateway/api/console/page'
import type { ExecutionRecord, ProgressLine, RefusedLine } from '@gateway/api/execution'
import type { ApiClient } from './open-api-client.ts'

// What the compiler says of a call: each line that is expected to fail would compile if the types said less. Nothing is called.

const call = (_: (api: ApiClient) => unknown) => {}
const [tenant, project, key, sandbox] = ['ten_1', 'prj_1', 'key_1', 'sbx-1']

test('a path takes the parameters that it names, all of them and no other', () => {
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key } }))
  // @ts-expect-error one is missing
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant } }))
  // @ts-expect-error all are missing
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}'))
  // @ts-expect-error it has none of that name
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key, project } }))
  // @ts-expect-error it has no parameters
  call((api) => api.ask('GET', '/api/v2/me', { params: { tenant } }))
  // @ts-expect-error there is no such path
  call((api) => api.ask('GET', '/api/v2/you'))
  // @ts-expect-error the path does not answer this method
  call((api) => api.ask('POST', '/api/v2/me'))
})

test('a body is what its contract takes: a field of another name or type does not compile', () => {
  const at = { params: { tenant, key } }
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceSeconds: 1 } }))
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: {} }))
  // @ts-expect-error the body is missing
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', at))
  call((api) =>
    // @ts-expect-error its field has another name
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceMinutes: 1 } }),
  )
  call((api) =>
    // @ts-expect-error its field has another type
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceSeconds: '1' } }),
  )
  // @ts-expect-error what reads takes no body
  call((api) => api.ask('GET', '/api/v2/me', { body: {} }))
})

test('a query is what its contract takes', () => {
  const params = { tenant, project }
  const list = '/api/v2/tenants/{tenant}/projects/{project}/invocations'
  call((api) => api.ask('GET', list, { params, query: { state: 'Open', limit: 5, from: '2026-11-01T00:00:00Z' } }))
  // @ts-expect-error no call has such a state
  call((api) => api.ask('GET', list, { params, query: { state: 'Closed' } }))
  // @ts-expect-error it has no such field
  call((api) => api.ask('GET', list, { params, query: { lineage: 'x' } }))
  // @ts-expect-error a limit is a number
  call((api) => api.ask('GET', list, { params, query: { limit: 'all' } }))
  // @ts-expect-error it has no query
  call((api) => api.ask('GET', '/api/v2/me', { query: {} }))
})

test('an answer is what its contract answers', () => {
  call(async (api) => {
    const { data } = await api.ask('GET', '/api/v2/tenants/{tenant}/members', { params: { tenant } })
    expectTypeOf(data).toEqualTypeOf<MemberRecord[]>()
    // @ts-expect-error no member has such a field
    expectTypeOf(data[0]!.nickname)
    const made = await api.ask('POST', '/api/v2/tenants/{tenant}/keys', { params: { tenant }, body: { project } })
    expectTypeOf(made.key).toEqualTypeOf<KeyRecord>()
    expectTypeOf(await api.ask('DELETE', '/api/v2/session')).toEqualTypeOf<undefined>()
    const set = { params: { tenant }, body: { email: 'a@example.test', role: 'Member' } } as const
    expectTypeOf(await api.ask('POST', '/api/v2/tenants/{tenant}/members', set)).toEqualTypeOf<MemberRecord>()
    const execution = await api.ask('POST', '/v1/sandbox/{id}/invoke', invocation)
    expectTypeOf(execution).toEqualTypeOf<ExecutionRecord>()
  })
})

const invocation = { params: { id: sandbox }, body: { input: {} }, idempotencyKey: 'abcdefgh' }

test('an idempotency key is given where one is taken, and has to be where it is required', () => {
  call((api) => api.ask('POST', '/api/v2/tenants', { body: { name: 't' }, idempotencyKey: 'abcdefgh' }))
  call((api) => api.ask('POST', '/api/v2/tenants', { body: { name: 't' } }))
  const { idempotencyKey: _, ...without } = invocation
  // @ts-expect-error it is required
  call((api) => api.ask('POST', '/v1/sandbox/{id}/invoke', without))
  const at = { params: { tenant, key }, body: {} }
  call((api) =>
    // @ts-expect-error a rotation is not kept under a key: repeated it would be done twice
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, idempotencyKey: 'abcdefgh' }),
  )
})

test('lines are of routes that answer lines', () => {
  call(async (api) => {
    for await (const line of api.stream('POST', '/v1/sandbox/{id}/invoke', invocation))
      expectTypeOf(line).toEqualTypeOf<ProgressLine | RefusedLine>()
  })
  call((api) => api.stream('GET', '/v1/executions/{id}/progress', { params: { id: 'exe_1' }, query: { after: 3 } }))
  // @ts-expect-error it answers no lines
  call((api) => api.stream('GET', '/api/v2/me'))
  // @ts-expect-error it answers nothing else than lines
  call((api) => api.ask('GET', '/v1/executions/{id}/progress', { params: { id: 'exe_1' } }))
})

test('pages are of lists', () => {
  call(async (api) => {
    for await (const page of api.pages('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
      expectTypeOf(page).toEqualTypeOf<Page<MemberRecord>>()
  })
  // @ts-expect-error it is not a list
  call((api) => api.pages('/api/v2/me'))
})

test('bytes go with what they are, and come as they are', () => {
  const params = { tenant, project }
  const upload = '/api/v2/tenants/{tenant}/projects/{project}/assets'
  const body = new Uint8Array(1)
  call((api) => api.ask('POST', upload, { params, body, contentType: 'image/png' }))
  // @ts-expect-error it is said what they are
  call((api) => api.ask('POST', upload, { params, body }))
  // @ts-expect-error it takes no such bytes
  call((api) => api.ask('POST', upload, { params, body, contentType: 'text/plain' }))
  call((api) => {
    expectTypeOf(api.raw('GET', '/v1/assets/{id}', { params: { id: 'ast_1' } })).toEqualTypeOf<Promise<Response>>()
  })
  // @ts-expect-error bytes are not JSON
  call((api) => api.ask('GET', '/v1/assets/{id}', { params: { id: 'ast_1' } }))
})
