import type { Dialect } from '../dialect.ts'
import { eventOf } from './write-message.ts'

/** The Messages wire format. */
export const messagesDialect: Dialect = {
  headers: (callId) => ({
    server: 'simulated-provider/1.0',
    'request-id': `req_sim${callId}`,
    'anthropic-organization-id': 'simulated-org-4711',
    'anthropic-ratelimit-requests-remaining': '9999',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorBody,
  wrongRequest: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  opening: '',
  garbage: 'event: content_block_delta\ndata: {"type":"content_block_de\n\n',
  errorEvent: (callId) => eventOf('error', errorBody(529, callId)),
  aroundFiller: () => [
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
    '"}}\n\n',
  ],
}

const typeOfStatus: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function errorBody(status: number, callId: string): object {
  const type = typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const message = `The simulated-provider answered ${status} to simulated-org-4711.`
  return { type: 'error', error: { type, message }, request_id: `req_sim${callId}` }
}
