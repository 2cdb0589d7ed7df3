import { readChatRequest, type ChatRequest } from '@gateway/contracts/chat-request'
import type { Values } from '@gateway/contracts/execution'
import type { GraphNode } from '@gateway/contracts/graph'
import { Refusal } from '@gateway/contracts/refusal'
import { recordedUsage } from '@gateway/contracts/usage'
import type { AnswerMessage, Completion } from '@gateway/providers/chat-port'
import { forwardedFor } from '@gateway/providers/forwarded-for'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import type { Deps } from '../deps.ts'
import type { Work } from '../work.ts'
import { loadImages } from './load-images.ts'
import type { PaidCall } from './paid-kind.ts'
import { productOf, textAt } from './ports.ts'

type ChatDeps = Pick<Deps, 'ledger' | 'assets' | 'providers' | 'countUsage'>

/**
 * `product.chat`: `prompt`, `system` and `image` become the messages of a chat call like any other (flows §2.3,
 * rules §3).
 * Answers `text`, and `json` where an answer in JSON was asked for.
 */
export async function prepareChat(
  deps: ChatDeps,
  { claim: { node, project } }: Work,
  inputs: Values,
  signal: AbortSignal,
): Promise<PaidCall> {
  const images = await loadImages(deps, project, inputs['image'], signal)
  const request = readChatRequest({ ...paramsOf(node), ...messagesOf(inputs, images), model: productOf(node) })
  return {
    product: request.model,
    parameters: request.conditional,
    promptSize: { ...request.promptSize, maxTokens: request.maxTokens },
    request,
    async make({ routes, outputCap, supportedParameters }, signal) {
      const forwarded = forwardedFor(request, supportedParameters)
      const answer = await deps.providers.chat({ routes, forwarded, outputCap, stream: false, signal })
      if (answer.kind !== 'completion') throw new Error('an answer was streamed that was not to be')
      const { choices, usage: reported } = answer.completion
      const used = await deps.countUsage(reported, { request, project }, () => answeredText(choices))
      return {
        usage: recordedUsage(used),
        finishReasons: choices.map(({ finish_reason }) => finish_reason),
        output: () => outputOf(node, request, choices[0]!.message),
      }
    },
  }
}

function paramsOf({ params }: GraphNode): object {
  return typeof params === 'object' && params !== null ? params : {}
}

function messagesOf(inputs: Values, images: string[]): object {
  const system = textAt(inputs, 'system')
  const prompt = textAt(inputs, 'prompt') ?? ''
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }))
  return {
    messages: [
      ...(system === null ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: parts.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...parts] },
    ],
  }
}

function answeredText(choices: Completion['choices']): string {
  const answered = openTextAccumulator()
  for (const { message } of choices) answered.append(message)
  return answered.text()
}

function outputOf(node: GraphNode, request: ChatRequest, { content, refusal }: AnswerMessage): Values {
  const text = content ?? refusal ?? ''
  return asksForJson(request) ? { text, json: jsonOf(node, text) } : { text }
}

function asksForJson({ forwarded }: ChatRequest): boolean {
  const { type } = (forwarded['response_format'] ?? {}) as { type?: string }
  return type === 'json_object' || type === 'json_schema'
}

function jsonOf({ id }: GraphNode, text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // refused below
  }
  throw new Refusal(
    'node_failed',
    `The model of the node ${id} did not answer with a JSON object, as response_format asks it to. Its answer is charged.`,
    'Raise max_tokens if answers are cut short, describe the object in the prompt, or use a model that keeps to response_format.',
    { param: 'response_format' },
  )
}
