import type { Dialect } from '../dialect.ts'
import { beforePayload, frame } from './event-frame.ts'

/** Amazon Bedrock's Converse, with streams in its binary frames. */
export const converseDialect: Dialect = {
  headers: (callId) => ({
    'x-amzn-requestid': `req_sim${callId}`,
    'x-amzn-bedrock-invocation-latency': '7',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorHeaders: (status) => ({ 'x-amzn-errortype': exceptions[status] ?? 'InternalServerException' }),
  errorBody: (status, callId) => ({
    message: `The simulated-provider answered ${status} to simulated-org-4711 (request req_sim${callId}).`,
  }),
  wrongRequest: (message) => ({ message }),
  streamType: 'application/vnd.amazon.eventstream',
  opening: '',
  frame: (event) => {
    const [[name, payload] = ['', {}]] = Object.entries(JSON.parse(event) as Record<string, object>)
    const exception = name.endsWith('Exception')
    const kind = exception ? { ':exception-type': name } : { ':event-type': name }
    return frame({ ...kind, ...json(), ':message-type': exception ? 'exception' : 'event' }, JSON.stringify(payload))
  },
  garbage: frame({ ':event-type': 'contentBlockDelta', ...json(), ':message-type': 'event' }, '{"delta":{"te'),
  errorEvent: () => '{"serviceUnavailableException":{"message":"simulated-org-4711 has to wait"}}',
  aroundFiller(bytes) {
    const headers = { ':event-type': 'contentBlockDelta', ...json(), ':message-type': 'event' }
    return [beforePayload(headers, bytes), '\0\0\0\0'] // the checksum is wrong, but no reader gets that far
  },
}

const exceptions: Record<number, string> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

function json() {
  return { ':content-type': 'application/json' }
}
