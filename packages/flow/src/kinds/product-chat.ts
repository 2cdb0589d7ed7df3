import { type ChatRequest, readChatRequest } from '@gateway/api/chat-request'
import type { GraphNode } from '@gateway/api/graph'
import { Refusal } from '@gateway/api/refusal'
import { jsonFault } from '../json-text.ts'
import type { NodeKind, NodeProblem, ProductFacts } from '../node-kind.ts'
import { optional, productLook, required } from './shared-looks.ts'

/** Optional fields of a chat request except stream, stream_options, n and project_id (flows §2.3). */
const chatParams = [
  'max_tokens',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
] as const

/** Returns the problems of each param of a chat node, by the rules of a chat call (rules §3). */
function chatParamProblems(node: GraphNode): NodeProblem[] {
  const params: unknown = node['params'] ?? {}
  const invalid = (message: string, resolution: string): NodeProblem => ({
    code: 'params_invalid',
    message,
    resolution,
  })
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return [
      invalid(
        `The params of node ${node.id} are not an object.`,
        'Write "params": { "max_tokens": 300 }, for example.',
      ),
    ]
  const given = params as Record<string, unknown>
  // Reported with the node; invalid JSON must not be processed further.
  if (jsonFault(params) !== null) return []
  const unknown = Object.keys(given).filter((name) => !chatParams.some((param) => param === name))
  const problems = unknown.map((name) =>
    invalid(
      `The params of node ${node.id} have ${name.slice(0, 64)}, which flows do not set.`,
      `Leave it out; params may have ${chatParams.join(', ')}.`,
    ),
  )
  for (const name of chatParams) {
    if (given[name] === undefined) continue
    // A tool choice depends on the tools, whose own problems are reported separately.
    const alone = name === 'tool_choice' ? { tool_choice: given[name], tools: given['tools'] } : { [name]: given[name] }
    const refused = refusalOf(alone)
    if (refused !== null && (name !== 'tool_choice' || !String(refused.body.param).startsWith('tools')))
      problems.push(
        invalid(`The params of node ${node.id} do not hold: ${refused.body.message}`, refused.body.resolution),
      )
  }
  return problems
}

/** Returns a problem for each param the product does not support. Invalid params are not reported again. */
function unsupportedParams(node: GraphNode, product: ProductFacts): NodeProblem[] {
  const request = requestOf(node['params'] ?? {})
  if (request === null) return []
  const unsupported = (message: string, resolution: string): NodeProblem => ({
    code: 'param_unsupported',
    message: `The product of node ${node.id} ${message}.`,
    resolution,
  })
  const problems = request.conditional
    .filter((name) => !product.supportedParameters.includes(name))
    .map((name) => unsupported(`does not take ${name}`, 'Leave it out of params, or call a product that takes it.'))
  const maxTokens = product.maxOutputTokens
  if (maxTokens !== undefined && request.maxTokens !== null && request.maxTokens > maxTokens)
    problems.push(
      unsupported(
        `answers at most ${maxTokens} tokens, and max_tokens asks for ${request.maxTokens}`,
        `Ask for at most ${maxTokens}.`,
      ),
    )
  return problems
}

function read(params: object): ChatRequest {
  return readChatRequest({ ...params, model: 'product', messages: [{ role: 'user', content: 'prompt' }] })
}

function refusalOf(params: object): Refusal | null {
  try {
    read(params)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function requestOf(params: unknown): ChatRequest | null {
  if (typeof params !== 'object' || params === null || jsonFault(params) !== null) return null
  if (refusalOf(params) !== null) return null
  return read(params)
}

/**
 * Paid call of a chat product. In: `prompt`, `system` and images. Out: `text`, `json` if `params.response_format`
 * requests it, and `tool_calls` if `params.tools` are given.
 */
export const productChat: NodeKind = {
  kind: 'product.chat',
  calls: 'chat',
  fields: ['product', 'params'],
  collects: ['image'],
  look(node) {
    const tools = toolsOf(node)
    const look = productLook(
      node,
      {
        prompt: required('string'),
        system: optional('string'),
        image: { type: 'image', required: false },
      },
      {
        text: 'string',
        ...(answersJson(node) && { json: 'object' }),
        ...(tools.given && { tool_calls: 'object' }),
      },
      chatParamProblems(node),
    )
    return tools.mayBeCalled ? { ...look, mustLead: ['tool_calls'] } : look
  },
  problemsWith(node, product, wired) {
    const problems = unsupportedParams(node, product)
    if (product.takesImages === false && wired.has('image'))
      problems.push({
        code: 'port_unsupported',
        port: 'image',
        message: `The product of node ${node.id} takes no images.`,
        resolution: 'Leave the port unwired, or call a product that takes images.',
      })
    return problems
  },
}

function answersJson(node: GraphNode): boolean {
  const params = node['params'] as { response_format?: { type?: unknown } } | null | undefined
  const type = params?.response_format?.type
  return type === 'json_object' || type === 'json_schema'
}

/** With tool_choice none the model makes no calls that could be lost. */
function toolsOf(node: GraphNode): { given: boolean; mayBeCalled: boolean } {
  const { tools, tool_choice: choice } = (node['params'] ?? {}) as { tools?: unknown; tool_choice?: unknown }
  const given = Array.isArray(tools) && tools.length > 0
  return { given, mayBeCalled: given && choice !== 'none' }
}

/** Returns the messages of a chat node's call (flows §2.3). `images` are references, in order; `system` null: none. */
export function chatMessages({
  system,
  prompt,
  images,
}: {
  system: string | null
  prompt: string
  images: readonly string[]
}): object[] {
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }))
  return [
    ...(system === null ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: parts.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...parts] },
  ]
}
