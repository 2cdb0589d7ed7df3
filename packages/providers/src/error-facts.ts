import { errorCode } from './error-code.ts'

export type Headers = Record<string, string | string[] | undefined>

/** What an error answer says. */
export interface ErrorFacts {
  /** The status that it means, which may not be the one that it has. */
  status: number
  /** The provider's own code, if it is made of plain words. For the log. */
  code: string | undefined
}

/** Reads an error answer: its status, headers, and body as far as it was taken. */
export type ReadError = (status: number, headers: Headers, body: string) => ErrorFacts

/** Of a provider whose status means what it says. */
export function readErrorAnswer(status: number, _headers: Headers, body: string): ErrorFacts {
  return { status, code: errorCode(body) }
}
