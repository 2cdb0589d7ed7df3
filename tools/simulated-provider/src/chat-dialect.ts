import type { Dialect } from './dialect.ts'
import { errorBody, traceHeaders } from './provider-traces.ts'

/** Chat completions, images and speech. */
export const chatDialect: Dialect = {
  headers: traceHeaders,
  errorBody,
  wrongRequest: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  opening: ': simulated-provider processing\n\n',
  garbage: 'data: {"choices":[{"index":0,"delta":{"con\n\n',
  errorEvent: (callId) => `data: ${JSON.stringify(errorBody(500, callId))}\n\n`,
  aroundFiller: () => ['data: {"choices":[{"index":0,"finish_reason":null,"delta":{"content":"', '"}}]}\n\n'],
}
