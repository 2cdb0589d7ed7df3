import { ErrorInAnswer, fieldsOf } from '../untrusted.ts'

/** Some providers answer 200 and put the error inside, as a body or as an event of a stream. Throws `ErrorInAnswer`. */
export function throwErrorInside(value: unknown): void {
  const { error, choices } = fieldsOf(value)
  const ending = fieldsOf(Array.isArray(choices) ? choices[0] : undefined)['finish_reason']
  if (ending !== 'error' && (error === undefined || error === null)) return
  const { code, status } = fieldsOf(error)
  throw new ErrorInAnswer([code, status].map(Number).find((number) => number >= 400 && number < 600))
}
