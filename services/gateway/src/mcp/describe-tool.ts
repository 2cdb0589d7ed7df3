import type { Tool } from '@modelcontextprotocol/server'
import type { ActiveSandbox } from '@gateway/ledger-protocol/flow-reads'
import type { ContractSide } from '@gateway/api/graph'
import { ALIAS_HASH_CHARACTERS, aliasOf, isSafeName } from '../request/input-aliases.ts'

// Describes a sandbox product as a tool, in plain JSON Schema. Contract formats aren't JSON Schema formats, and some
// clients reject unknown ones, so formats are described in words. Model APIs refuse a whole request for one tool whose
// input names or description they don't accept, so names get aliases and the description is cut. They don't check outputs.

export const TOOL = 'invoke_product'

type ProductFacts = Pick<ActiveSandbox, 'name' | 'description' | 'input' | 'output'>
type ObjectSchema = Tool['inputSchema']
type Field = ContractSide['properties'][string]
type FieldSchema = (field: Field) => object

/** The one tool of a sandbox product (flows §5.3). The same facts give the same tool. */
export function describeTool({ name, description, input, output }: ProductFacts): Tool {
  return {
    name: TOOL,
    title: name,
    description: cut(description.trim() === '' ? name : description),
    inputSchema: schemaOf(aliased(input), givenAsset),
    outputSchema: schemaOf(output, madeAsset),
    // Each call is a separate execution, which may be charged and may call external models.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  }
}

const MAX_DESCRIPTION = 1_024

function cut(text: string): string {
  if (text.length <= MAX_DESCRIPTION) return text
  return `${text.slice(0, MAX_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, '')}…` // no half of a surrogate pair
}

/** Returns the input names by alias. An alias depends on its name, and on the others only if it would be one of them. */
function namesByAlias(properties: ContractSide['properties']): Map<string, string> {
  const names = Object.keys(properties)
  const taken = new Set(names)
  const byAlias = new Map<string, string>()
  for (const name of names.filter((name) => !isSafeName(name)).toSorted()) {
    let alias = aliasOf(name)
    for (let length = ALIAS_HASH_CHARACTERS + 1; taken.has(alias); length++) alias = aliasOf(name, length)
    taken.add(alias)
    byAlias.set(alias, name)
  }
  return byAlias
}

/** The side with aliases for the names that model APIs refuse. */
function aliased(side: ContractSide): ContractSide {
  const aliases = new Map([...namesByAlias(side.properties)].map(([alias, name]) => [name, alias]))
  const fields = Object.entries(side.properties).map(([name, field]) => {
    const alias = aliases.get(name)
    return alias === undefined ? [name, field] : [alias, withName(field, name)]
  })
  return {
    ...side,
    properties: Object.fromEntries(fields) as ContractSide['properties'],
    ...(side.required && { required: side.required.map((name) => aliases.get(name) ?? name) }),
  }
}

/** Adds the name of a field with an alias, because refusals use it: as its title, or else in its description. */
function withName(field: Field, name: string): Field {
  const { title = name, description } = field
  if (title === name) return { ...field, title }
  const lines = [description, `The name of this input is ${JSON.stringify(name)}.`].filter((text) => text?.trim())
  return { ...field, description: lines.join('\n') }
}

/**
 * Returns the arguments of a tool call by the names of the contract. An alias next to its name stays, so that the call is
 * refused instead of losing a value.
 */
export function inputOf(given: Record<string, unknown>, { properties }: ContractSide): Record<string, unknown> {
  const names = namesByAlias(properties)
  const fields = Object.entries(given).map(([key, value]) => {
    const name = names.get(key)
    return [name === undefined || Object.hasOwn(given, name) ? key : name, value]
  })
  return Object.fromEntries(fields) as Record<string, unknown>
}

/** Asset kind of a field, or null. */
function mediaOf({ type, format }: Field): 'image' | 'audio' | null {
  return type === 'object' && (format === 'image' || format === 'audio') ? format : null
}

function schemaOf(
  { title, description, properties, required = [] }: ContractSide,
  assetSchema: FieldSchema,
): ObjectSchema {
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    mediaOf(field) === null ? plainSchema(field) : assetSchema(field),
  ])
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(fields) as NonNullable<ObjectSchema['properties']>,
    required,
    additionalProperties: false,
  }
}

function plainSchema({ type, enum: options, format, title, description }: Field): object {
  return { type, ...(options !== undefined && { enum: options }), ...labels(title, description, SELECTS[format ?? '']) }
}

const SELECTS: Record<string, string> = {
  voice: 'A voice.',
  aspect_ratio: 'An aspect ratio.',
  resolution: 'A resolution.',
  duration: 'A duration.',
}

function givenAsset(field: Field): object {
  const { article, types } = WORDS[mediaOf(field)!]
  return {
    type: 'object',
    ...labels(
      field.title,
      field.description,
      `${article}, given by the id of an asset of the project: {"asset":"ast_…"}. An id comes from the output of an execution, or from uploading a file of type ${types} to POST /v1/assets on the server of this tool, with the same Authorization header, the bytes as the body and their Content-Type; the answer's "asset" is the id.`,
    ),
    properties: {
      asset: { type: 'string', description: 'The id of the asset. It starts with ast_.' },
      mimeType: { type: 'string', description: 'May be left out.' },
      bytes: { type: 'integer', description: 'May be left out.' },
    },
    required: ['asset'],
    additionalProperties: false,
  }
}

function madeAsset(field: Field): object {
  const { article } = WORDS[mediaOf(field)!]
  return {
    type: 'object',
    ...labels(
      field.title,
      field.description,
      `${article}, named by the id of an asset of the project. Unless it is large the result also holds it as content; GET /v1/assets/{asset} answers its bytes.`,
    ),
    properties: {
      asset: { type: 'string', description: 'The id of the asset.' },
      mimeType: { type: 'string' },
      bytes: { type: 'integer' },
    },
    required: ['asset', 'mimeType', 'bytes'],
    additionalProperties: false,
  }
}

const WORDS = {
  image: { article: 'An image', types: 'image/png, image/jpeg or image/webp' },
  audio: { article: 'A sound', types: 'audio/wav or audio/mpeg' },
}

/** Combines the author's description with the gateway's. */
function labels(title: string | undefined, description: string | undefined, ours: string | undefined): object {
  const lines = [description, ours].filter((text) => text !== undefined && text.trim() !== '').join('\n')
  return { ...(title !== undefined && { title }), ...(lines !== '' && { description: lines }) }
}
