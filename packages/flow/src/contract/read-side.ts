import type { ContractSide, GraphProblem, ValueType } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { jsonFault, jsonWithin, maxValueDepth, portFit } from '../json-text.ts'
import { problem } from '../problem.ts'

/** Field of a parsed contract. */
export interface Field {
  name: string
  type: ValueType
  required: boolean
  /** Options of a select. */
  options: string[] | null
}

export type ReadSide = { side: ContractSide; fields: Field[]; problems?: never } | { problems: GraphProblem[] }

/**
 * Parses one side of a contract (flows §1.3). Returns its fields and the side as JSON Schema without additional
 * properties, or all its problems; `port` of a problem is the name of the field.
 * @param name its name in messages
 */
export function readContractSide(side: unknown, name = 'contract'): ReadSide {
  const problems = problemsOf(side, name)
  if (problems.length > 0) return { problems }
  const clean = cleanSide(side as ContractSide)
  return { side: clean, fields: fieldsOf(clean) }
}

/** Returns the fields of a parsed side, in order. */
export function fieldsOf(side: ContractSide): Field[] {
  const required = new Set(side.required)
  return Object.entries(side.properties).map(([name, schema]) => ({
    name,
    type: valueTypeOf(schema),
    required: required.has(name),
    options: (schema.enum as string[] | undefined) ?? null,
  }))
}

/** Returns the type of a field of a parsed contract. */
export function valueTypeOf(field: { type: string; format?: string | undefined }): ValueType {
  if (field.type === 'object' && (field.format === 'image' || field.format === 'audio')) return field.format
  return field.type as ValueType
}

/** Returns the readable fields of a side with problems, so the rest of the graph can still be checked. */
export function readableFields(side: unknown): Field[] {
  if (!isObject(side) || !isObject(side['properties'])) return []
  const names = Object.entries(side['properties']).filter(
    ([name, schema]) => fieldProblems(name, schema, '').length === 0,
  )
  const required = Array.isArray(side['required']) ? side['required'].filter((name) => typeof name === 'string') : []
  return fieldsOf({ type: 'object', properties: Object.fromEntries(names) as ContractSide['properties'], required })
}

function cleanSide(side: ContractSide): ContractSide {
  const { title, description, properties, required = [] } = side
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    properties,
    required,
    additionalProperties: false,
  }
}

const SIDE_KEYWORDS = ['type', 'properties', 'required', 'title', 'description', 'additionalProperties']
const FIELD_KEYWORDS = ['type', 'enum', 'format', 'title', 'description']
const TYPES = ['string', 'number', 'boolean', 'object']
const SELECT_FORMATS = ['voice', 'aspect_ratio', 'resolution', 'duration']
const LONGEST_NAME = 64

function problemsOf(side: unknown, name: string): GraphProblem[] {
  const wrong = (message: string, resolution: string) => problem('contract_invalid', {}, message, resolution)
  if (!isObject(side) || side['type'] !== 'object' || !isObject(side['properties']))
    return [
      wrong(
        `The ${name} is not an object schema with properties.`,
        'Write { "type": "object", "properties": { … }, "required": [ … ] }.',
      ),
    ]
  const problems: GraphProblem[] = []
  const fault = jsonFault(side)
  if (fault !== null) problems.push(wrong(`The ${name} ${fault}.`, 'Write plain JSON.'))
  const json = jsonWithin(cleanSide(side as unknown as ContractSide), flowLimits.contractBytes)
  if (!json.ok && json.why === 'too-large')
    problems.push(
      wrong(
        `The ${name} has more than ${flowLimits.contractBytes} bytes as compact JSON.`,
        'Shorten its titles, descriptions and options.',
      ),
    )
  for (const keyword of Object.keys(side))
    if (!SIDE_KEYWORDS.includes(keyword) || (keyword === 'additionalProperties' && side[keyword] !== false))
      problems.push(
        wrong(
          `The ${name} uses the keyword ${keyword.slice(0, 64)}, which contracts do not have.`,
          'Leave it out: a contract is flat and has type, properties and required.',
        ),
      )
  if (!labelled(side))
    problems.push(wrong(`The ${name} has a title or description that is not a string.`, 'Write it as a string.'))

  const fields = Object.entries(side['properties'])
  if (fields.length > flowLimits.contractFields)
    problems.push(
      problem(
        'too_many_fields',
        {},
        `The ${name} has ${fields.length} fields, more than ${flowLimits.contractFields}.`,
        `Leave at most ${flowLimits.contractFields} fields on a side.`,
      ),
    )
  for (const [field, schema] of fields) problems.push(...fieldProblems(field, schema, name))

  const required: unknown = side['required'] ?? []
  const names = Array.isArray(required) ? (required as unknown[]) : [null]
  const known = new Set(fields.map(([field]) => field))
  if (!names.every((field) => typeof field === 'string' && known.has(field)) || new Set(names).size !== names.length)
    problems.push(
      wrong(
        `The required list of the ${name} is not a list of its fields, each once.`,
        'List names that properties has, or leave required out.',
      ),
    )
  return problems
}

function fieldProblems(field: string, schema: unknown, name: string): GraphProblem[] {
  const problems: GraphProblem[] = []
  const shown = field.slice(0, LONGEST_NAME)
  const wrong = (message: string, resolution: string) =>
    problems.push(
      problem('contract_invalid', { port: shown }, `The field ${shown} of the ${name} ${message}.`, resolution),
    )

  if (!isName(field))
    wrong(
      'has a name that cannot be used',
      `Use 1 to ${LONGEST_NAME} characters without control characters, other than __proto__.`,
    )
  if (!isObject(schema)) {
    wrong('is not a schema', 'Write it as { "type": … }.')
    return problems
  }
  const { type, enum: options, format } = schema
  for (const keyword of Object.keys(schema))
    if (!FIELD_KEYWORDS.includes(keyword))
      wrong(
        `uses the keyword ${keyword.slice(0, 64)}, which contracts do not have`,
        'Leave it out: fields have type, enum, format, title and description, and no schemas within them.',
      )
  if (!labelled(schema)) wrong('has a title or description that is not a string', 'Write it as a string.')
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    wrong('has a type that contracts do not have', `Use one of ${TYPES.join(', ')}.`)
    return problems
  }
  if (options !== undefined && (type !== 'string' || !isSelect(options)))
    wrong(
      'has an enum that is not a select',
      `Give a string field an enum of ${flowLimits.selectOptions.min} to ${flowLimits.selectOptions.max} strings, each once and none empty.`,
    )
  if (format !== undefined && !fitsFormat(type, options !== undefined, format))
    wrong(
      'has a format that it cannot have',
      `An object may have the format image or audio, a select one of ${SELECT_FORMATS.join(', ')}.`,
    )
  return problems
}

/** Whether a name is valid. Field names are port names. JSON parsers could misinterpret `__proto__`. */
function isName(name: string): boolean {
  const length = Array.from(name).length
  return length >= 1 && length <= LONGEST_NAME && name !== '__proto__' && name.isWellFormed() && !/\p{Cc}/u.test(name)
}

function isSelect(options: unknown): boolean {
  const { min, max } = flowLimits.selectOptions
  return (
    Array.isArray(options) &&
    options.length >= min &&
    options.length <= max &&
    options.every((option) => typeof option === 'string' && option !== '') &&
    new Set(options).size === options.length
  )
}

function fitsFormat(type: string, isSelect: boolean, format: unknown): boolean {
  if (typeof format !== 'string') return false
  return type === 'object' ? format === 'image' || format === 'audio' : isSelect && SELECT_FORMATS.includes(format)
}

function labelled({ title, description }: Record<string, unknown>): boolean {
  return [title, description].every((text) => text === undefined || typeof text === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a function that reports what is wrong with a value, to follow the name of the field, or null. */
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
  const json = portFit(value)
  if (json.ok) return null
  return json.why === 'too-large'
    ? `must have at most ${flowLimits.portBytes} bytes${typeof value === 'string' ? '' : ' as JSON'}`
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

function listed(options: string[]): string {
  const text = options.map((option) => JSON.stringify(option)).join(', ')
  return text.length <= 500 ? text : `the ${options.length} options of its enum`
}
