import { ErrorInAnswer, fieldsOf } from '../untrusted.ts'

/** The status that an error of this type has where it is an answer of its own. */
const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Throws `ErrorInAnswer` if this body or event is an error. */
export function throwErrorInside(value: unknown): void {
  const { type, error } = fieldsOf(value)
  if (type !== 'error') return
  const kind = fieldsOf(error)['type']
  throw new ErrorInAnswer(typeof kind === 'string' ? statusOfType[kind] : undefined)
}
