import { flowLimits } from '@gateway/api/limits'
import { portTextJsonBytes } from '../json-text.ts'
import { utf8Bytes } from '@gateway/api/text-bytes'

/** Value of a port: the value itself, or only a bound of its size. */
export interface BoundedValue {
  /** Absent: unknown. */
  known?: { value: unknown }
  /** Upper bound for its compact JSON in UTF-8 bytes. */
  bytes: number
  /** The value is a string, which does not grow when inserted into another string. */
  isText: boolean
}

export function knownValue(value: unknown): BoundedValue {
  const bytes = utf8Bytes(JSON.stringify(value) ?? 'null')
  return { known: { value }, bytes, isText: typeof value === 'string' }
}

export function unknownText(bytes: number = portTextJsonBytes): BoundedValue {
  return { bytes, isText: true }
}

export function unknownValue(bytes: number = flowLimits.portBytes): BoundedValue {
  return { bytes, isText: false }
}

/** Returns a bound that covers any one of the values. */
export function anyOf(values: readonly BoundedValue[]): BoundedValue {
  if (values.length === 1) return values[0]!
  const bytes = Math.max(...values.map((value) => value.bytes))
  return { bytes, isText: values.every(({ isText }) => isText) }
}
