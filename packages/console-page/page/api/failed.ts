import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'

/** What is not done, why, and what would clear it: in the words of the service, where it spoke. */
export interface Failed {
  message: string
  resolution: string
  code: string
  requestId: string | null
}

export function failedBy(error: unknown): Failed {
  if (error instanceof ApiRefusal) return error
  return error instanceof Unreachable ? notReached : ofThePage
}

/** What was refused about one field of what was sent; null: nothing about it. */
export function faultAt(error: unknown, param: string): string | null {
  return error instanceof ApiRefusal && error.param === param ? error.message : null
}

/** Where a refusal is explained; what only the page says is not a refusal, and leads to the list of them. */
export function refusalAddress(code: string): string {
  return `/docs/refusals/${[notReached.code, ofThePage.code].includes(code) ? '' : code}`
}

/** Whether no one is signed in, or no longer. */
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
