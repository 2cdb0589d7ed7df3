import type { Refusal } from '../../refusal.ts'
import type { MessageErrorType } from './messages-shapes.ts'
import { renamed } from '../renamed.ts'
import { nameOfField } from './read-messages.ts'

/** A refusal in the shape of this wire, with what it says beyond that. */
export function errorBodyOf(refusal: Refusal): object {
  const { type: _, ...said } = renamed(refusal, nameOfField).body
  return { type: 'error', error: { type: typeOf(refusal), ...said } }
}

const TYPES: Record<number, MessageErrorType> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
}

function typeOf({ status, code }: Refusal): MessageErrorType {
  if (code === 'overloaded') return 'overloaded_error'
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
