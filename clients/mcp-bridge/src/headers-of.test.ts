import { expect, test } from 'vitest'
import { headersOf } from './bridge.ts'
import type { Message } from './messages.ts'

const call: Message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'invoke_product' } }
const stateless = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

test('a message of the stateless revision repeats its method and name in headers', () => {
  const headers = headersOf({ ...call, params: { name: 'invoke_product', _meta: stateless } }, 'svc_1', '2025-11-25')
  expect(headers).toEqual({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer svc_1',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'invoke_product',
  })
})

test('in earlier revisions each message but the first has the negotiated version', () => {
  expect(headersOf(call, 'svc_1', '2025-11-25')).toMatchObject({ 'mcp-protocol-version': '2025-11-25' })
  expect(headersOf(call, 'svc_1', '2025-11-25')).not.toHaveProperty('mcp-method')
  expect(headersOf(call, 'svc_1', null)).not.toHaveProperty('mcp-protocol-version')
  const first: Message = { jsonrpc: '2.0', id: 0, method: 'initialize' }
  expect(headersOf(first, 'svc_1', '2025-11-25')).not.toHaveProperty('mcp-protocol-version')
})

test.each(['größe', ' blank', '=?base64?x?=', ''])(
  'a name that a header cannot contain is encoded as base64: %j',
  (name) => {
    const headers = headersOf({ ...call, params: { name, _meta: stateless } }, 'svc_1', null)
    expect(headers['mcp-name']).toBe(`=?base64?${Buffer.from(name).toString('base64')}?=`)
  },
)
