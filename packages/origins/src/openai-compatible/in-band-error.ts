import { OriginFailure } from '../origin-failure.ts'
import { fieldsOf } from '../untrusted.ts'

/** Some origins answer 200 and put the error inside, as a body or as an event of a stream. */
export function throwInBandError(value: unknown, origin: string, afterFirstByte = false): void {
  const { error, choices } = fieldsOf(value)
  const ending = fieldsOf(Array.isArray(choices) ? choices[0] : undefined)['finish_reason']
  if (ending !== 'error' && (error === undefined || error === null)) return
  const { code, status } = fieldsOf(error)
  const originStatus = [code, status].map(Number).find((number) => number >= 400 && number < 600)
  throw new OriginFailure({
    kind: 'refused',
    origin,
    detail: 'an error inside the answer',
    afterFirstByte,
    originStatus,
  })
}
