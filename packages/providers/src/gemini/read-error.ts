import { fieldsOf, list } from '../untrusted.ts'
import type { ReadError } from '../error-facts.ts'

/**
 * A key that is not valid is answered with 400, as if the request were wrong: its reason stands in the details. Everything
 * else means what its status says; `status` is the code, such as `RESOURCE_EXHAUSTED`.
 */
export const readGeminiError: ReadError = (status, _headers, body) => {
  const { status: word, reason } = said(body)
  const code = [reason, word].find((each) => typeof each === 'string' && /^[A-Z][A-Z_]{0,63}$/.test(each))
  const aboutTheKey = typeof reason === 'string' && reason.startsWith('API_KEY_')
  return { status: status === 400 && aboutTheKey ? 401 : status, code: code as string | undefined }
}

function said(body: string): { status?: unknown; reason?: unknown } {
  try {
    // A stream that fails before its first chunk answers a list of one error.
    const [first = {}] = [JSON.parse(body) as unknown].flat()
    const { status, details } = fieldsOf(fieldsOf(first)['error'])
    const reason = list(details, 32, 'details')
      .map((detail) => fieldsOf(detail)['reason'])
      .find(Boolean)
    return { status, reason }
  } catch {
    return {}
  }
}
