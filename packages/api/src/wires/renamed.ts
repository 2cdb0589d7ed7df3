import { Refusal } from '../refusal.ts'

/**
 * Returns a refusal of a chat request in the words of another wire: the field at fault by its name there.
 * @param nameOf returns the name of a field of a chat request
 */
export function renamed(refusal: Refusal, nameOf: (field: string) => string): Refusal {
  const { code, param, message, resolution, details } = refusal.body
  const name = param === null ? null : nameOf(param)
  if (param === null || name === null || name === param) return refusal
  const word = new RegExp(`(?<![\\w.])${param.replaceAll('.', '\\.')}(?!\\w)`, 'g')
  const inWords = (text: string) => text.replace(word, () => name)
  const extras = { param: name, ...(details && { details }), headers: refusal.headers }
  return new Refusal(code, inWords(message), inWords(resolution), extras)
}
