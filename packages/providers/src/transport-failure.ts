import type { FailureFacts } from './provider-failure.ts'
import { privateAddressCode } from '@gateway/service-kit/public-network/public-lookup'

/** What an error of undici or the socket says about the call. `started`: the request had been written. */
export function transportFailure(
  error: Error & { code?: unknown },
  started: boolean,
): Pick<FailureFacts, 'kind' | 'detail'> {
  // The code only: messages may quote addresses and bytes of the answer.
  const detail = typeof error.code === 'string' ? error.code : error.name
  switch (detail) {
    case 'UND_ERR_HEADERS_TIMEOUT':
      return { kind: 'timeout', detail: 'no first byte in time' }
    case 'UND_ERR_BODY_TIMEOUT':
      return { kind: 'timeout', detail: 'the answer paused for too long' }
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { kind: 'too_large', detail: 'the headers are too large' }
    case privateAddressCode:
      return { kind: 'unreachable', detail: 'the name leads to a private address' }
    default:
      if (detail.startsWith('HPE_')) return { kind: 'garbage', detail }
      return { kind: started ? 'cut' : 'unreachable', detail }
  }
}
