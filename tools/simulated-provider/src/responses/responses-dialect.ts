import type { Dialect } from '../dialect.ts'
import { chatDialect } from '../chat-dialect.ts'
import { errorBody, traceHeaders } from '../provider-traces.ts'
import { eventOf } from './write-response.ts'

/** The Responses wire format. */
export const responsesDialect: Dialect = {
  headers: traceHeaders,
  errorBody,
  wrongRequest: chatDialect.wrongRequest,
  opening: '',
  garbage: 'event: response.output_text.delta\ndata: {"type":"response.output_text.del\n\n',
  errorEvent: (callId) =>
    eventOf('error', {
      code: 'server_error',
      message: `The simulated-provider failed for simulated-org-4711 (request req_sim${callId}).`,
      param: null,
      sequence_number: 0,
    }),
  aroundFiller: () => [
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"',
    '"}\n\n',
  ],
}
