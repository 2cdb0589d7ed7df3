import type { Dialect } from '../dialect.ts'

/** Google's generateContent format, with streams as server-sent events. */
export const generateDialect: Dialect = {
  headers: (callId) => ({
    server: 'simulated-provider/1.0',
    'x-request-id': `req_sim${callId}`,
    'server-timing': 'gfet4t7; dur=7',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorBody,
  wrongRequest: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  opening: '',
  garbage: 'data: {"candidates": [{"content": {"par\n\n',
  errorEvent: (callId) => `data: ${JSON.stringify(errorBody(503, callId))}\n\n`,
  aroundFiller: () => ['data: {"candidates":[{"content":{"role":"model","parts":[{"text":"', '"}]}}]}\n\n'],
}

const words: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

function errorBody(status: number, callId: string): object {
  const message = `The simulated-provider answered ${status} to simulated-org-4711 (request req_sim${callId}).`
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: status === 429 ? 'RATE_LIMIT_EXCEEDED' : 'SIM_REASON',
    domain: 'googleapis.com',
  }
  return { error: { code: status, message, status: words[status] ?? 'INTERNAL', details: [info] } }
}
