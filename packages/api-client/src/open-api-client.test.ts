import { expectTypeOf, test } from 'vitest'
import type { KeyRecord } from '@gateway/api/console/keys'
import type { MemberRecord } from '@gateway/api/console/users'
import type { Page } from '@gateway/api/console/page'
import type { ExecutionRecord, ProgressLine, RefusedLine } from '@gateway/api/execution'
import type { ApiClient } from './open-api-client.ts'

// Type tests: each line marked as an error would compile if the types were weaker. Nothing is called.

const call = (_: (api: ApiClient) => unknown) => {}
const [tenant, project, key, sandbox] = ['ten_1', 'prj_1', 'key_1', 'sbx-1']

test('a path takes exactly the parameters that it names', () => {
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key } }))
  // @ts-expect-error a parameter is missing
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant } }))
  // @ts-expect-error all parameters are missing
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}'))
  // @ts-expect-error the path has no parameter of that name
  call((api) => api.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key, project } }))
  // @ts-expect-error the path has no parameters
  call((api) => api.ask('GET', '/api/v2/me', { params: { tenant } }))
  // @ts-expect-error no route has this path
  call((api) => api.ask('GET', '/api/v2/you'))
  // @ts-expect-error the path does not have this method
  call((api) => api.ask('POST', '/api/v2/me'))
})

test('a body with a field of another name or type than in its contract does not compile', () => {
  const at = { params: { tenant, key } }
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceSeconds: 1 } }))
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: {} }))
  // @ts-expect-error the body is missing
  call((api) => api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', at))
  call((api) =>
    // @ts-expect-error the field has another name
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceMinutes: 1 } }),
  )
  call((api) =>
    // @ts-expect-error the field has another type
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, body: { graceSeconds: '1' } }),
  )
  // @ts-expect-error a GET takes no body
  call((api) => api.ask('GET', '/api/v2/me', { body: {} }))
})

test('a query has the fields and types of its contract', () => {
  const params = { tenant, project }
  const list = '/api/v2/tenants/{tenant}/projects/{project}/invocations'
  call((api) => api.ask('GET', list, { params, query: { state: 'Open', limit: 5, from: '2026-11-01T00:00:00Z' } }))
  // @ts-expect-error no call has such a state
  call((api) => api.ask('GET', list, { params, query: { state: 'Closed' } }))
  // @ts-expect-error the query has no such field
  call((api) => api.ask('GET', list, { params, query: { lineage: 'x' } }))
  // @ts-expect-error a limit is a number
  call((api) => api.ask('GET', list, { params, query: { limit: 'all' } }))
  // @ts-expect-error the route takes no query
  call((api) => api.ask('GET', '/api/v2/me', { query: {} }))
})

test('a response has the type of its contract', () => {
  call(async (api) => {
    const { data } = await api.ask('GET', '/api/v2/tenants/{tenant}/members', { params: { tenant } })
    expectTypeOf(data).toEqualTypeOf<MemberRecord[]>()
    // @ts-expect-error a member has no such field
    expectTypeOf(data[0]!.nickname)
    const made = await api.ask('POST', '/api/v2/tenants/{tenant}/keys', { params: { tenant }, body: { project } })
    expectTypeOf(made.key).toEqualTypeOf<KeyRecord>()
    expectTypeOf(await api.ask('DELETE', '/api/v2/session')).toEqualTypeOf<undefined>()
    const set = { params: { tenant, user: 'usr_1' }, body: { role: 'Member' } } as const
    expectTypeOf(await api.ask('PATCH', '/api/v2/tenants/{tenant}/members/{user}', set)).toEqualTypeOf<MemberRecord>()
    const execution = await api.ask('POST', '/v1/sandbox/{id}/invoke', invocation)
    expectTypeOf(execution).toEqualTypeOf<ExecutionRecord>()
  })
})

const invocation = { params: { id: sandbox }, body: { input: {} }, idempotencyKey: 'abcdefgh' }

test('an idempotency key is accepted only by routes that take one, and required by those that need it', () => {
  call((api) => api.ask('POST', '/api/v2/tenants', { body: { name: 't' }, idempotencyKey: 'abcdefgh' }))
  call((api) => api.ask('POST', '/api/v2/tenants', { body: { name: 't' } }))
  const { idempotencyKey: _, ...without } = invocation
  // @ts-expect-error the key is required
  call((api) => api.ask('POST', '/v1/sandbox/{id}/invoke', without))
  const at = { params: { tenant, key }, body: {} }
  call((api) =>
    // @ts-expect-error a rotation takes no key, so a repeat would rotate twice
    api.ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', { ...at, idempotencyKey: 'abcdefgh' }),
  )
})

test('stream() accepts only routes that respond in lines', () => {
  call(async (api) => {
    for await (const line of api.stream('POST', '/v1/sandbox/{id}/invoke', invocation))
      expectTypeOf(line).toEqualTypeOf<ProgressLine | RefusedLine>()
  })
  call((api) => api.stream('GET', '/v1/executions/{id}/progress', { params: { id: 'exe_1' }, query: { after: 3 } }))
  // @ts-expect-error the route does not respond in lines
  call((api) => api.stream('GET', '/api/v2/me'))
  // @ts-expect-error the route responds only in lines
  call((api) => api.ask('GET', '/v1/executions/{id}/progress', { params: { id: 'exe_1' } }))
})

test('pages() accepts only lists', () => {
  call(async (api) => {
    for await (const page of api.pages('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
      expectTypeOf(page).toEqualTypeOf<Page<MemberRecord>>()
  })
  // @ts-expect-error the route is not a list
  call((api) => api.pages('/api/v2/me'))
})

test('bytes are sent with their content type and returned unchanged', () => {
  const params = { tenant, project }
  const upload = '/api/v2/tenants/{tenant}/projects/{project}/assets'
  const body = new Uint8Array(1)
  call((api) => api.ask('POST', upload, { params, body, contentType: 'image/png' }))
  // @ts-expect-error the content type is missing
  call((api) => api.ask('POST', upload, { params, body }))
  // @ts-expect-error the route does not accept this content type
  call((api) => api.ask('POST', upload, { params, body, contentType: 'text/plain' }))
  call((api) => {
    expectTypeOf(api.raw('GET', '/v1/assets/{id}', { params: { id: 'ast_1' } })).toEqualTypeOf<Promise<Response>>()
  })
  // @ts-expect-error bytes are not JSON
  call((api) => api.ask('GET', '/v1/assets/{id}', { params: { id: 'ast_1' } }))
})
