import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { inFormWords } from './form-labels.ts'

/** Error and how to fix it, in the words of the service if it responded. */
export interface Failed {
  message: string
  resolution: string
  code: string
  requestId: string | null
}

export function failedBy(error: unknown): Failed {
  if (error instanceof ApiRefusal) return namedAsInForms(error)
  return error instanceof Unreachable ? notReached : ofThePage
}

function namedAsInForms({ message, resolution, code, requestId, param }: ApiRefusal): Failed {
  if (param === null) return { message, resolution, code, requestId }
  return { message: inFormWords(message, param), resolution: inFormWords(resolution, param), code, requestId }
}

/** Error about one field of the request, or null. */
export function faultAt(error: unknown, param: string): string | null {
  return error instanceof ApiRefusal && error.param === param ? inFormWords(error.message, param) : null
}

/** Documentation page of a refusal. Errors of the page itself have none and link to the list of refusals. */
export function refusalAddress(code: string): string {
  return `/docs/refusals/${[notReached.code, ofThePage.code].includes(code) ? '' : code}`
}

/** Whether the session is missing or has expired. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiRefusal && error.code === 'session_missing'
}

const notReached = {
  message: 'The service could not be reached.',
  resolution: 'Check the connection and try again.',
  code: 'not_reached',
  requestId: null,
}
const ofThePage = {
  message: 'This part of the page failed to load.',
  resolution: 'Load the page again.',
  code: 'page_error',
  requestId: null,
}
