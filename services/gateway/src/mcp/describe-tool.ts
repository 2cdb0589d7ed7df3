import type { Tool } from '@modelcontextprotocol/server'
import type { ActiveSandbox } from '@gateway/ledger-protocol/flow-reads'
import type { ContractSide } from '@gateway/api/graph'

// Describes a sandbox product as a tool, in plain JSON Schema. Contract formats aren't JSON Schema formats, and some
// clients reject unknown ones, so formats are described in words.

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
    description: description.trim() === '' ? name : description,
    inputSchema: schemaOf(input, givenAsset),
    outputSchema: schemaOf(output, madeAsset),
    // Each call is a separate execution, which may be charged and may call external models.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  }
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
