import { fieldsOf } from './untrusted.ts'

/** The origin's error code, if its body has one that is a plain word. For the log. */
export function errorCode(body: string): string | undefined {
  try {
    const { code, type } = fieldsOf(fieldsOf(JSON.parse(body))['error'])
    const word = code ?? type
    return typeof word === 'string' && /^[\w.-]{1,64}$/.test(word) ? word : undefined
  } catch {
    return undefined
  }
}
