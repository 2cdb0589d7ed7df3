import { readChatRequest, type ChatRequest } from '@gateway/contracts/chat-request'
import type { GraphNode } from '@gateway/contracts/graph'
import { Refusal } from '@gateway/contracts/refusal'
import { jsonFault } from '../json-fault.ts'
import type { NodeProblem, ProductFacts } from '../node-kind.ts'

/** The optional fields of a chat request less stream, stream_options, n and project_id (flows §2.3). */
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

/** What is wrong with the `params` of a chat node, each by itself; a chat call's own rules hold (rules §3). */
export function chatParamProblems(node: GraphNode): NodeProblem[] {
  const params: unknown = node['params'] ?? {}
  const invalid = (message: string, resolution: string): NodeProblem => ({
    code: 'params_invalid',
    message,
    resolution,
  })
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return [
      invalid(`The params of node ${node.id} are no object.`, 'Write "params": { "max_tokens": 300 }, for example.'),
    ]
  const given = params as Record<string, unknown>
  // The node is told of it; nothing may go through it.
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
    // A tool choice is of tools; what is wrong with those is told of them.
    const alone = name === 'tool_choice' ? { tool_choice: given[name], tools: given['tools'] } : { [name]: given[name] }
    const refused = refusalOf(alone)
    if (refused !== null && (name !== 'tool_choice' || !String(refused.body.param).startsWith('tools')))
      problems.push(
        invalid(`The params of node ${node.id} do not hold: ${refused.body.message}`, refused.body.resolution),
      )
  }
  return problems
}

/** What of the params this product does not take. Those that are wrong by themselves are not reported again. */
export function unsupportedParams(node: GraphNode, product: ProductFacts): NodeProblem[] {
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
