import { Ajv2020 } from 'ajv/dist/2020.js'
import { apiDocument, type Content, type Json } from '@gateway/testbed/example-request'

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ $id: 'api', components: apiDocument.components })

/**
 * Mismatches between a raw response and its documented schema and example. Empty if the response is as documented.
 * @param own IDs created by the examples. A list that has any of them is reduced to them
 */
export function wrongWith(type: string, content: Content, text: string, own: ReadonlySet<string>): string[] {
  if (content.example === undefined) return ['no example']
  const example = typeof content.example === 'string' ? content.example : JSON.stringify(content.example)
  if (type === 'text/csv') return columnsOf(text) === columnsOf(example) ? [] : [`columns: ${columnsOf(text)}`]
  const [real, shown] = [valuesIn(type, text).map((value) => withoutOthers(value, own)), valuesIn(type, example)]
  const check = ajv.compile(asPartOf(content.schema))
  const invalid = [...real.map((value) => ['answer', value]), ...shown.map((value) => ['example', value])].flatMap(
    ([what, value]) => (check(value) ? [] : [`${String(what)}: ${ajv.errorsText(check.errors)}`]),
  )
  return [...invalid, ...differentKeys('', [content.schema], shown, real)]
}

/** The JSON values in a text: one, or one per line or event. The end marker of a stream is skipped. */
function valuesIn(type: string, text: string): unknown[] {
  if (type === 'application/json') return [JSON.parse(text)]
  const lines = text.split('\n').map((line) => line.trim())
  const data = type === 'text/event-stream' ? lines.flatMap((line) => line.match(/^data: (.*)$/)?.[1] ?? []) : lines
  return data.filter((line) => line !== '' && line !== '[DONE]').map((line) => JSON.parse(line) as unknown)
}

/** Removes entries of other tests: the stack is shared, and some lists cover all tenants. */
function withoutOthers(value: unknown, own: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const mine = value.filter((item) => isThere(item) && own.has((item as { id?: string }).id ?? ''))
    return (mine.length > 0 ? mine : value).map((item) => withoutOthers(item, own))
  }
  if (!isThere(value)) return value
  return Object.fromEntries(Object.entries(value as Json).map(([key, inner]) => [key, withoutOthers(inner, own)]))
}

const columnsOf = (text: string) => text.split('\r\n')[0]

/** Points `$ref`s into the API document. */
function asPartOf(schema: Json): Json {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
  return JSON.parse(text) as Json
}

/**
 * Paths at which the example and the real response have different keys. The entries of a list are merged, and a list must not be empty
 * on one side only. Null matches anything. Keys that the schema doesn't name belong to the caller and are skipped.
 */
function differentKeys(at: string, schemas: readonly Json[], shown: unknown[], real: unknown[]): string[] {
  const named = schemas.flatMap((schema) => alternatives(schema))
  const [some, others] = [shown.filter(isThere), real.filter(isThere)]
  if (some.length === 0 || others.length === 0) return []
  if (some.some(Array.isArray)) return differentLists(at, named, some as unknown[][], others as unknown[][])
  if (!named.some(propertiesOf)) return []
  const keys = (values: unknown[]) => new Set(values.flatMap((value) => Object.keys(value as object)))
  const [documented, answered] = [keys(some), keys(others)]
  const only = (what: string, names: Set<string>) => [...names].map((name) => `${at}.${name} is only in the ${what}`)
  const below = [...documented.intersection(answered)].flatMap((name) => {
    const parts = named.map((schema) => propertiesOf(schema)?.[name]).filter((part) => part !== undefined)
    const [ofSome, ofOthers] = [some, others].map((values) => values.map((value) => (value as Json)[name]))
    return differentKeys(`${at}.${name}`, parts, ofSome!, ofOthers!)
  })
  return [
    ...only('example', documented.difference(answered)),
    ...only('answer', answered.difference(documented)),
    ...below,
  ]
}

function differentLists(at: string, schemas: readonly Json[], shown: unknown[][], real: unknown[][]): string[] {
  const [some, others] = [shown.flat(), real.flat()]
  if (some.length === 0 && others.length === 0) return []
  if (some.length === 0 || others.length === 0)
    return [`${at} is empty in the ${some.length === 0 ? 'example' : 'answer'}`]
  const items = schemas.flatMap(({ items: each }) => (each ? [each as Json] : []))
  return differentKeys(`${at}[]`, items, some, others)
}

function alternatives(schema: Json): Json[] {
  const { $ref, anyOf, oneOf } = schema as { $ref?: string; anyOf?: Json[]; oneOf?: Json[] }
  if ($ref !== undefined) return alternatives(apiDocument.components.schemas[$ref.split('/').at(-1)!]!)
  return [schema, ...[...(anyOf ?? []), ...(oneOf ?? [])].flatMap(alternatives)]
}

const propertiesOf = ({ properties }: Json) => properties as Record<string, Json> | undefined

/** Whether a value has keys. */
function isThere(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
