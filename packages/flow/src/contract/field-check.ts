import { flowLimits } from '@gateway/contracts/limits'
import { jsonWithin, maxValueDepth } from '../json-text.ts'
import type { Field } from './read-side.ts'

/** Says what is wrong with a value of a field, to follow the field's name, or null. */
export function fieldCheck({ type, options }: Field): (value: unknown) => string | null {
  switch (type) {
    case 'string': {
      if (options === null) return (value) => (typeof value === 'string' ? sizeFault(value) : 'must be a string')
      const chosen = new Set(options)
      return (value) =>
        typeof value === 'string' && chosen.has(value) ? sizeFault(value) : `must be one of ${listed(options)}`
    }
    case 'number':
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number')
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? null : 'must be true or false')
    case 'object':
      return (value) => (isObject(value) ? sizeFault(value) : 'must be an object')
    case 'image':
    case 'audio':
      return (value) => assetFault(type, value)
  }
}

function sizeFault(value: unknown): string | null {
  const json = jsonWithin(value, flowLimits.portBytes)
  if (json.ok) return null
  return json.why === 'too-large'
    ? `must have at most ${flowLimits.portBytes} bytes as JSON`
    : `must be nested at most ${maxValueDepth} deep`
}

const ASSET_ID = /^ast_[0-9a-z]{1,60}$/
const ASSET_FIELDS = ['asset', 'mimeType', 'bytes']

function assetFault(type: 'image' | 'audio', value: unknown): string | null {
  const whole = `must be the value of an asset such as {"asset":"ast_…"}`
  if (!isObject(value) || !Object.keys(value).every((key) => ASSET_FIELDS.includes(key))) return whole
  const { asset, mimeType, bytes } = value
  if (typeof asset !== 'string' || !ASSET_ID.test(asset)) return whole
  if (mimeType !== undefined && !(typeof mimeType === 'string' && mimeType.startsWith(`${type}/`)))
    return `must be an asset of a MIME type ${type}/…`
  if (bytes !== undefined && !(Number.isSafeInteger(bytes) && (bytes as number) > 0)) return whole
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listed(options: string[]): string {
  const text = options.map((option) => JSON.stringify(option)).join(', ')
  return text.length <= 500 ? text : `the ${options.length} options of its enum`
}
