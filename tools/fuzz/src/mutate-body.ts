import type { Json } from '@gateway/testbed/example-request'
import type { Chance } from './chance.ts'
import type { Draft } from './draft.ts'
import { boundaries, hostileText, hostileValue, jsonText } from './hostile-values.ts'
import { objectSchemas, resolved, schemaValue } from './schema-value.ts'

/** A place in a JSON value: the object or list that contains it, its name there, and its schema if the document has one. */
interface Spot {
  container: Record<string, unknown>
  name: string
  schema: Json | undefined
}

/** Changes the body, or adds one where none belongs. Returns what it did. */
export function mutateBody(draft: Draft, chance: Chance): string {
  const { body } = draft
  if (body.kind === 'none') return addBody(draft, chance)
  if (body.kind === 'bytes') return mutateBytes(draft, body.bytes, body.contentType, chance)
  if (chance.hits(0.12)) return breakText(draft, jsonText(body.value), chance)
  if (chance.hits(0.08)) {
    body.value = schemaValue(body.schema, chance)
    return 'body made from its schema'
  }
  if (chance.hits(0.03)) {
    body.value = hostileValue(chance)
    return 'hostile body'
  }
  const spots = spotsOf(body.value, body.schema)
  if (spots.length === 0 || chance.hits(0.2)) return addField(draft, chance)
  const { container, name, schema } = chance.pick(spots)
  const limits = schema ? boundaries(resolved(schema)) : []
  switch (chance.below(limits.length > 0 ? 5 : 4)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(name), 1)
      else delete container[name]
      return `${name} left out`
    case 1:
      if (schema) container[name] = schemaValue(schema, chance)
      return `${name} made from its schema`
    case 2:
    case 3:
      if (Array.isArray(container[name]) && chance.hits(0.3)) {
        container[name] = repeated(container[name], chance)
        return `${name} repeated`
      }
      container[name] = hostileValue(chance)
      return `${name} hostile`
    default:
      container[name] = chance.pick(limits)
      return `${name} at its limit`
  }
}

function repeated(items: unknown[], chance: Chance): unknown[] {
  const times = chance.pick([2, 10, 101, 300])
  return items.length === 0 ? [] : Array.from({ length: times }, (_, n) => items[n % items.length])
}

/** Every place in a value, at any depth. */
function spotsOf(value: unknown, schema: Json | undefined, depth = 0): Spot[] {
  if (typeof value !== 'object' || value === null || depth > 12) return []
  const container = value as Record<string, unknown>
  const properties = schema ? objectSchemas(schema) : []
  return Object.keys(container)
    .slice(0, 50)
    .flatMap((name) => {
      const own = Array.isArray(value)
        ? schema && (resolved(schema)['items'] as Json | undefined)
        : properties.find((one) => one.properties && name in one.properties)?.properties?.[name]
      return [{ container, name, schema: own }, ...spotsOf(container[name], own, depth + 1)]
    })
}

function addField(draft: Draft, chance: Chance): string {
  const { body } = draft
  if (body.kind !== 'json' || typeof body.value !== 'object' || body.value === null || Array.isArray(body.value))
    return 'unchanged'
  const named = Object.assign({}, ...objectSchemas(body.schema).map(({ properties }) => properties)) as Record<
    string,
    Json
  >
  const missing = Object.keys(named).filter((name) => !(name in (body.value as object)))
  const container = body.value as Record<string, unknown>
  if (missing.length > 0 && chance.hits(0.75)) {
    const name = chance.pick(missing)
    container[name] = chance.hits(0.6) ? schemaValue(named[name]!, chance) : hostileValue(chance)
    return `${name} added`
  }
  if (chance.hits(0.05)) {
    for (let n = 0; n < 5_000; n++) container[`field${n}`] = n
    return '5,000 fields added'
  }
  const name = chance.pick([
    'strange',
    '__proto__',
    'constructor',
    'id',
    'project_id',
    'tenant',
    '',
    '\u0000',
    hostileText(chance),
  ])
  Object.defineProperty(container, name, {
    value: hostileValue(chance),
    enumerable: true,
    configurable: true,
    writable: true,
  })
  return 'unknown field added'
}

const BROKEN = [
  '',
  ' ',
  '{',
  'null',
  'true',
  '[]',
  '"x"',
  '7',
  '[{}]',
  '{"a":1}{"b":2}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":NaN}',
  '{"a":01}',
  '{"a":"\u0001"}',
  '{"a":"\\ud800"}',
  '{"\\ud800":1}',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '<xml/>',
  'a=1&b=2',
]

/** Sends text that is not the JSON of one object. */
function breakText(draft: Draft, text: string, chance: Chance): string {
  const [what, bytes] = brokenBytes(text, chance)
  draft.body = { kind: 'bytes', bytes, contentType: 'application/json' }
  return what
}

function brokenBytes(text: string, chance: Chance): [string, Buffer] {
  switch (chance.below(8)) {
    case 0:
      return ['body cut off', Buffer.from(text.slice(0, chance.below(text.length + 1)))]
    case 1:
      return ['body with a byte order mark', Buffer.from(`\ufeff${text}`)]
    case 2:
      return ['body in UTF-16', Buffer.from(text, 'utf16le')]
    case 3:
      return [
        'body not UTF-8',
        Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc3, 0x28, 0x22, 0x7d])]),
      ]
    case 4:
      return [
        'body with names twice',
        Buffer.from(text.replace(/^\{/, `{${text.slice(1, -1) || '"a":1'},`).replace(',,', ',')),
      ]
    case 5:
      return ['body nested deeply', Buffer.from(chance.pick(['[', '{"a":']).repeat(chance.pick([100, 5_000, 100_000])))]
    default:
      return ['body broken', Buffer.from(chance.pick(BROKEN))]
  }
}

function mutateBytes(draft: Draft, bytes: Buffer, contentType: string, chance: Chance): string {
  const put = (changed: Buffer) => void (draft.body = { kind: 'bytes', bytes: changed, contentType })
  switch (chance.below(5)) {
    case 0:
      put(bytes.subarray(0, chance.below(bytes.length + 1)))
      return 'bytes cut off'
    case 1:
      put(Buffer.alloc(0))
      return 'no bytes'
    case 2: {
      const changed = Buffer.from(bytes)
      if (changed.length > 0) changed[chance.below(changed.length)] = chance.below(256)
      put(changed)
      return 'one byte changed'
    }
    case 3:
      put(Buffer.concat([bytes, Buffer.alloc(chance.pick([1, 1_000, 300_000]), chance.below(256))]))
      return 'bytes added'
    default:
      put(Buffer.from('<svg onload="alert(1)"/>'))
      return 'other bytes'
  }
}

function addBody(draft: Draft, chance: Chance): string {
  const text = chance.pick(['{}', '{"a":1}', 'x', '['.repeat(2_000), jsonText(hostileValue(chance))])
  draft.body = { kind: 'bytes', bytes: Buffer.from(text), contentType: chance.pick(['application/json', 'text/plain']) }
  return 'body where none belongs'
}
