import { openAnswerCollector } from '@gateway/capture/collect-answer'
import { type ChatRequest, readChatRequest } from '@gateway/api/chat-request'
import type { AssetValue, Values } from '@gateway/api/execution'
import type { GraphNode } from '@gateway/api/graph'
import { chatLimits } from '@gateway/api/limits'
import { Refusal, refuse } from '@gateway/api/refusal'
import { recordedUsage } from '@gateway/pricing/usage'
import { chatMessages } from '@gateway/flow/kinds/product-chat'
import type { AnswerMessage, ToolCall } from '@gateway/api/chat-answer'
import type { Completion } from '@gateway/providers/chat-port'
import { forwardedFor } from '@gateway/providers/exchange'
import { openTextAccumulator } from '@gateway/tokens/token-counter'
import type { Deps } from '../deps.ts'
import type { Work } from '../work.ts'
import { type PaidCall, productOf, requiredTextAt, textAt } from './paid-kind.ts'
import { schemaFault } from '@gateway/flow/schema-fault'
import { assetUrls } from '@gateway/assets/asset-urls'
import { assetIdsOf, type NamedAsset, findAttachmentError, isImageUrl } from '@gateway/api/attachments'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { askUntilAnswered } from '../retry.ts'

type ChatDeps = Pick<Deps, 'ledger' | 'assets' | 'imageMemory' | 'providers' | 'countUsage'>

/**
 * `product.chat`: turns `prompt`, `system` and `image` into the messages of an ordinary chat call (flows §2.3, rules
 * §3). Outputs `text`, `json` if JSON was requested, and `tool_calls` if the model calls tools.
 */
export async function prepareChat(
  deps: ChatDeps,
  { claim: { node, project } }: Work,
  inputs: Values,
  signal: AbortSignal,
): Promise<PaidCall> {
  const request = requestOf(node, inputs)
  const assets = await checkImages(deps, project, request, signal)
  return {
    product: request.model,
    parameters: request.conditional,
    promptSize: { ...request.promptSize, maxTokens: request.maxTokens },
    request,
    async make({ routes, outputCap, supportedParameters, product, invocation }, signal, timing) {
      const answer = await withImages(deps, project, assets, signal, (urls) => {
        const forwarded = forwardedFor(request, supportedParameters, urls)
        const reference = { product, invocation }
        return deps.providers.chat({ routes, reference, project, forwarded, outputCap, stream: false, signal, timing })
      })
      if (answer.kind !== 'completion')
        throw new Error('the provider streamed a response that was not requested as a stream')
      const { remoteMs, route } = answer
      const { choices, usage: reported } = answer.completion
      const asked = { request, project, provider: route.provider }
      const used = await deps.countUsage(reported, asked, () => answeredText(choices))
      return {
        usage: recordedUsage(used),
        route,
        remoteMs,
        finishReasons: choices.map(({ finish_reason }) => finish_reason),
        messages: () => answeredMessages(choices),
        output: () => answerOf(node, request, choices[0]!.message),
      }
    },
  }
}

/** @throws Refusal that names a field of the node, because its author has written no messages */
function requestOf(node: GraphNode, inputs: Values): ChatRequest {
  const messages = chatMessages({
    system: textAt(inputs, 'system'),
    prompt: requiredTextAt(inputs, 'prompt', node),
    images: imageReferences(inputs['image']),
  })
  try {
    return readChatRequest({ ...paramsOf(node), messages, model: productOf(node) })
  } catch (error) {
    if (error instanceof Refusal && error.body.param === 'messages') throw tooLong()
    throw error
  }
}

function paramsOf({ params }: GraphNode): object {
  return typeof params === 'object' && params !== null ? params : {}
}

function answeredText(choices: Completion['choices']): string {
  const answered = openTextAccumulator()
  for (const { message } of choices) answered.append(message)
  return answered.text()
}

function answeredMessages(choices: Completion['choices']): string | null {
  const collector = openAnswerCollector()
  collector.append(choices)
  return collector.messages()
}

function tooLong(): Refusal {
  const { forwardedBytes } = chatLimits
  const reason = `prompt: together with system and the params of the node it is more than ${forwardedBytes} bytes.`
  return refuse('invalid_request', { reason, resolution: 'Send a shorter text to the node.' }, { param: 'prompt' })
}

// Output of a chat node (flows §2.3). The response is charged whether the flow can use it or not.
//   C1  `text` is the text of the model; empty if it only called tools.
//   C2  `tool_calls` has a value if the model called tools: `{ "calls": [{ "id", "name", "arguments" }] }` with the
//       arguments as an object. Otherwise it has none, and nodes that require it are skipped.
//   C3  A call of a tool that the node does not have, or with arguments that violate its schema, fails the node: the
//       flow can't rely on such a response.
//   C4  `json` is the text parsed as an object. It has no value if the model called a tool instead.

/** @throws Refusal `node_failed` */
export function answerOf(node: GraphNode, request: ChatRequest, message: AnswerMessage): Values {
  const text = message.content ?? message.refusal ?? '' // C1
  const calls = (message.tool_calls ?? []).map((call) => callOf(node, request, call))
  const saysJson = asksForJson(request) && (calls.length === 0 || text !== '') // C4
  return {
    text,
    ...(saysJson && { json: jsonOf(node, text) }),
    ...(calls.length > 0 && { tool_calls: { calls } }), // C2
  }
}

interface Tool {
  function: { name: string; parameters?: Record<string, unknown> }
}

/** C3 */
function callOf({ id: node }: GraphNode, { forwarded }: ChatRequest, { id, function: called }: ToolCall) {
  const { name } = called
  const tools = (forwarded['tools'] ?? []) as Tool[]
  const tool = tools.find((each) => each.function.name === name)
  if (tool === undefined)
    throw unusable(node, `called a tool ${JSON.stringify(name.slice(0, 64))}, which the node does not have`)
  const given = objectOf(called.arguments.trim() === '' ? '{}' : called.arguments)
  if (given === null) throw unusable(node, `called ${name} with arguments that are not a JSON object`)
  const fault = schemaFault(tool.function.parameters ?? {}, given)
  if (fault !== null) throw unusable(node, `called ${name} with arguments that do not fit its parameters: ${fault}`)
  return { id, name, arguments: given }
}

function unusable(node: string, what: string): Refusal {
  return new Refusal(
    'node_failed',
    `The model of the node ${node} ${what}. Its answer is charged.`,
    'Raise max_tokens if answers are cut short, describe the tool and its parameters more closely, or use a model that keeps to them.',
    { param: 'tools' },
  )
}

function asksForJson({ forwarded }: ChatRequest): boolean {
  const { type } = (forwarded['response_format'] ?? {}) as { type?: string }
  return type === 'json_object' || type === 'json_schema'
}

function jsonOf({ id }: GraphNode, text: string): object {
  const value = objectOf(text)
  if (value !== null) return value
  throw new Refusal(
    'node_failed',
    `The model of the node ${id} did not answer with a JSON object, as response_format asks it to. Its answer is charged.`,
    'Raise max_tokens if answers are cut short, describe the object in the prompt, or use a model that keeps to response_format.',
    { param: 'response_format' },
  )
}

/**
 * Returns null if it is not an object or contains a number beyond the double range, which a record would show as null.
 */
function objectOf(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json, finite)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('a number beyond double precision')
  return value
}

/**
 * Returns the asset references at the image port, which accepts several images; an omitted optional input is null.
 * @throws Refusal `asset_not_found` for a value that can't be an ID
 */
function imageReferences(value: unknown): string[] {
  return [value]
    .flat()
    .filter((item): item is AssetValue => typeof item === 'object' && item !== null && 'asset' in item)
    .map(({ asset }) => {
      const reference = `asset:${asset}`
      if (!isImageUrl(reference)) throw refuse('asset_not_found', { asset: asset.slice(0, 64) })
      return reference
    })
}

/**
 * Returns the ledger's records of a call's images, because the type and size in a value may come from a caller.
 * @throws Refusal for images the product doesn't accept; nothing is reserved yet
 */
async function checkImages(
  { ledger }: Pick<Deps, 'ledger'>,
  project: string,
  { model, attachments }: ChatRequest,
  signal: AbortSignal,
): Promise<NamedAsset[]> {
  if (attachments.length === 0) return []
  const assets = assetIdsOf(attachments)
  const answer = await askUntilAnswered(signal, () => ledger.readAttachments({ caller: { project }, model, assets }))
  if ('refused' in answer) throw refusalFor(answer.refused, 'node')
  const { images } = answer.limits
  if (images === null) return answer.assets // the admission reports the reason
  const recorded = new Map(answer.assets.map((asset) => [asset.id, asset]))
  const attachmentError = findAttachmentError(attachments, recorded, images, 'node')
  if (attachmentError !== null) throw attachmentError
  return answer.assets
}

/**
 * Runs a function with the images as `data:` URLs, by reference, once memory for them is available.
 * @throws Refusal `asset_not_found`; AssetStoreUnavailable; the signal's reason
 */
async function withImages<Answer>(
  { assets: store, imageMemory }: Pick<Deps, 'assets' | 'imageMemory'>,
  project: string,
  assets: readonly NamedAsset[],
  signal: AbortSignal,
  work: (urls: Map<string, string>) => Promise<Answer>,
): Promise<Answer> {
  if (assets.length === 0) return work(new Map())
  const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0)
  const giveBack = await imageMemory.take(project, bytes, signal)
  try {
    return await work(await assetUrls(store, project, assets))
  } finally {
    giveBack()
  }
}
