import { fieldsOf } from './untrusted.ts'

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
