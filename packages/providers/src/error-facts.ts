import { fieldsOf } from './untrusted.ts'

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

/** Words of letters alone: a provider that quotes a key or an id where its code should be is not written into the log. */
const plainWords = /^[a-z]{1,24}(?:[_.-][a-z]{1,24}){0,7}$/i

/** The provider's error code, if its body has one that is made of plain words. For the log. */
export function errorCode(body: string): string | undefined {
  try {
    const { code, type } = fieldsOf(fieldsOf(JSON.parse(body))['error'])
    const word = code ?? type
    return typeof word === 'string' && plainWords.test(word) ? word : undefined
  } catch {
    return undefined
  }
}
