import { flowLimits } from '@gateway/api/limits'
import { utf8Bytes } from '@gateway/api/text-bytes'

/** What a port has: the value itself, or no more than how large it is. */
export interface BoundedValue {
  /** Left out: not known. */
  known?: { value: unknown }
  /** Of its compact JSON in UTF-8, at most. */
  bytes: number
  /** It is a string, which grows by nothing where it is put into another one. */
  isText: boolean
}

export function knownValue(value: unknown): BoundedValue {
  const bytes = utf8Bytes(JSON.stringify(value) ?? 'null')
  return { known: { value }, bytes, isText: typeof value === 'string' }
}

export function unknownText(bytes: number = flowLimits.portBytes): BoundedValue {
  return { bytes, isText: true }
}

export function unknownValue(bytes: number = flowLimits.portBytes): BoundedValue {
  return { bytes, isText: false }
}

/** Any one of them. */
export function anyOf(values: readonly BoundedValue[]): BoundedValue {
  if (values.length === 1) return values[0]!
  const bytes = Math.max(...values.map((value) => value.bytes))
  return { bytes, isText: values.every(({ isText }) => isText) }
}
