import type { Chance } from './chance.ts'
import { rawFaults, type Draft } from './draft.ts'

/** A latin-1 text that a header may carry. */
const HOSTILE = [
  '',
  ' ',
  'é'.repeat(10),
  '\xff\xfe',
  '"',
  ',',
  ';',
  '*',
  '%00',
  '../..',
  'x'.repeat(300),
  'x'.repeat(8_000),
]

const IDS = ['req_0000000000', 'x'.repeat(64), 'x'.repeat(65), "' OR 1=1", 'a b', '\xff'.repeat(9), '']
const RANGES = [
  'bytes=0-0',
  'bytes=5-2',
  'bytes=-0',
  'bytes=-1',
  'bytes=0-99999999999',
  'bytes=0-1,3-4',
  'bytes=x',
  'lines=1',
  '',
]
const KEYS = ['', ' ', 'x', 'x'.repeat(255), 'x'.repeat(256), 'x'.repeat(5_000), 'é', 'a,b', '"quoted"', '0']
const TYPES = [
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'APPLICATION/JSON',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'image/svg+xml',
  'image/png',
  'application/json, text/plain',
  '/',
  ';',
]
const ACCEPTS = [
  '*/*',
  '',
  'text/html',
  'application/x-ndjson',
  'text/event-stream',
  'image/png',
  'image/*;q=0.1, application/json;q=0',
  'text/csv',
  'application/json;q=nonsense',
  ','.repeat(500),
]
const ORIGINS = ['null', 'http://evil.example', 'http://localhost', 'file://', 'http://127.0.0.1:1', '\xff']

/** The kinds of change, each with the headers that it adds. */
const KINDS: Record<string, (chance: Chance) => [string, string][]> = {
  'content type': (chance) => [['content-type', chance.pick(TYPES)]],
  accept: (chance) => [['accept', chance.pick(ACCEPTS)]],
  'idempotency key': (chance) => [['idempotency-key', chance.pick(KEYS)]],
  'idempotency key of many': (chance) => [['idempotency-key', `fuzz-shared-${chance.below(30)}`]],
  range: (chance) => [['range', chance.pick(RANGES)]],
  'request id': (chance) => [['x-request-id', chance.pick(IDS)]],
  origin: (chance) => [
    ['origin', chance.pick(ORIGINS)],
    ['sec-fetch-site', chance.pick(['cross-site', 'same-origin', 'nonsense'])],
  ],
  encoding: (chance) => [
    ['content-encoding', chance.pick(['gzip', 'br', 'deflate', 'identity', 'nonsense', 'gzip, gzip'])],
  ],
  'accepted encoding': (chance) => [['accept-encoding', chance.pick(['gzip', 'br', '*', 'identity;q=0', 'nonsense'])]],
  cookie: (chance) => [
    ['cookie', chance.pick(['svc_session=x', '__Host-svc_session=%', 'a', '=', 'svc_session='.repeat(50)])],
  ],
  trace: (chance) => [
    ['traceparent', chance.pick(['00-0-0-0', `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01`, 'x', ''])],
    ['tracestate', 'x'.repeat(600)],
    ['baggage', 'x'.repeat(2_000)],
  ],
  'forwarded for': (chance) => [
    ['x-forwarded-for', chance.pick(['', 'x', '::1', '127.0.0.1', '1.2.3.4, 5.6.7.8', ','.repeat(300), '\xff'])],
    ['x-forwarded-host', 'evil.example'],
    ['x-forwarded-proto', 'nonsense'],
  ],
  'conditional request': (chance) => [
    ['if-none-match', chance.pick(['*', '"x"', 'x'])],
    ['if-modified-since', chance.pick(['x', 'Thu, 01 Jan 1970 00:00:00 GMT'])],
  ],
  expect: (chance) => [['expect', chance.pick(['100-continue', 'nonsense'])]],
  mcp: (chance) => [
    ['mcp-protocol-version', chance.pick(['2026-07-28', '2025-11-25', '1999-01-01', ''])],
    ['mcp-session-id', chance.pick(['x', '', '\xff'])],
    ['last-event-id', chance.pick(['0', 'x'])],
  ],
  'method override': () => [
    ['x-http-method-override', 'DELETE'],
    ['x-method-override', 'DELETE'],
  ],
  'huge header': (chance) => [['x-strange', 'x'.repeat(chance.pick([4_000, 8_200, 15_000, 20_000]))]],
  'many headers': () => Array.from({ length: 150 }, (_, n) => [`x-strange-${n}`, 'x']),
}

export function mutateHeaders(draft: Draft, chance: Chance): string {
  const kind = chance.pick([...Object.keys(KINDS), 'project', 'authorization', 'any'])
  if (kind === 'authorization') return mutateAuthorization(draft, chance)
  if (kind === 'any') {
    const at = draft.headers[chance.below(draft.headers.length)]
    if (at === undefined || at[0] === 'authorization') return 'unchanged'
    at[1] = chance.pick(HOSTILE)
    return `${at[0]} hostile`
  }
  const added: [string, string][] =
    kind === 'project'
      ? [[chance.pick(['x-service-project', 'x-project-id']), chance.pick(['prj_none', '', 'x'.repeat(300), '\xff'])]]
      : KINDS[kind]!(chance)
  const names = new Set(added.map(([name]) => name))
  const keepsBoth = chance.hits(0.1)
  draft.headers = [...draft.headers.filter(([name]) => keepsBoth || !names.has(name)), ...added]
  return keepsBoth ? `${kind} in addition` : kind
}

/** Changes how the credential is written, never whose it is. */
function mutateAuthorization(draft: Draft, chance: Chance): string {
  const found = draft.headers.find(([name]) => name === 'authorization')
  if (!found) return 'unchanged'
  const [, secret = ''] = found[1].split(' ')
  found[1] = chance.pick([
    secret,
    `bearer ${secret}`,
    `BEARER  ${secret}`,
    `Bearer\t${secret}`,
    `Basic ${Buffer.from(`${secret}:`).toString('base64')}`,
    `Bearer ${secret},Bearer ${secret}`,
    `Bearer ${secret.slice(0, -1)}`,
    `Bearer ${secret.toUpperCase()}`,
    'Bearer ',
    'Bearer',
    `Bearer ${'x'.repeat(7_000)}`,
    'Bearer svc_\xff',
  ])
  return 'authorization written differently'
}

export function mutateTransport(draft: Draft, chance: Chance): string {
  const kind = chance.pick(['chunked', 'truncated', 'aborted', 'twice', 'twice', 'raw', 'raw'] as const)
  switch (kind) {
    case 'raw':
      draft.transport = { kind, fault: chance.pick(rawFaults) }
      return draft.transport.fault
    case 'aborted':
      draft.transport = { kind, afterMs: chance.below(30) }
      return kind
    case 'chunked':
    case 'truncated':
    case 'twice':
      draft.transport = { kind }
      return kind
  }
}
