import { fieldsOf } from './untrusted.ts'

export type Headers = Record<string, string | string[] | undefined>

/** Content of an error response. */
export interface ErrorFacts {
  /** The effective status, which may differ from the HTTP status. */
  status: number
  /** The provider's error code, if it consists of plain words. For the log. */
  code: string | undefined
}

/** Reads an error response from its status, headers, and the body received so far. */
export type ReadError = (status: number, headers: Headers, body: string) => ErrorFacts

/** Reads an error response whose HTTP status is reliable. */
export function readErrorAnswer(status: number, _headers: Headers, body: string): ErrorFacts {
  return { status, code: errorCode(body) }
}

/** Words of letters only, so that a provider that puts a key or an ID in place of a code can't get it into the log. */
const plainWords = /^[a-z]{1,24}(?:[_.-][a-z]{1,24}){0,7}$/i

/** Returns the error code in the body, if it consists of plain words. For the log. */
export function errorCode(body: string): string | undefined {
  try {
    const { code, type } = fieldsOf(fieldsOf(JSON.parse(body))['error'])
    const word = code ?? type
    return typeof word === 'string' && plainWords.test(word) ? word : undefined
  } catch {
    return undefined
  }
}
