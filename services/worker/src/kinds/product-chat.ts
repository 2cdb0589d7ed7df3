import { readChatRequest, type ChatRequest } from '@gateway/contracts/chat-request'
import type { Values } from '@gateway/contracts/execution'
import type { GraphNode } from '@gateway/contracts/graph'
import { chatLimits } from '@gateway/contracts/limits'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import { recordedUsage } from '@gateway/contracts/usage'
import { chatMessages } from '@gateway/flow/chat-messages'
import type { Completion } from '@gateway/providers/chat-port'
import { forwardedFor } from '@gateway/providers/forwarded-for'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import type { Deps } from '../deps.ts'
import type { Work } from '../work.ts'
import { answerOf } from './chat-answer.ts'
import { checkImages, imageReferences, withImages } from './load-images.ts'
import type { PaidCall } from './paid-kind.ts'
import { productOf, textAt } from './ports.ts'

type ChatDeps = Pick<Deps, 'ledger' | 'assets' | 'imageMemory' | 'providers' | 'countUsage'>

/**
 * `product.chat`: `prompt`, `system` and `image` become the messages of a chat call like any other (flows §2.3,
 * rules §3).
 * Answers `text`, `json` where an answer in JSON was asked for, and `tool_calls` where the model calls tools.
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
    async make({ routes, outputCap, supportedParameters }, signal) {
      const answer = await withImages(deps, project, assets, signal, (urls) => {
        const forwarded = forwardedFor(request, supportedParameters, urls)
        return deps.providers.chat({ routes, forwarded, outputCap, stream: false, signal })
      })
      if (answer.kind !== 'completion') throw new Error('an answer was streamed that was not to be')
      const { choices, usage: reported } = answer.completion
      const used = await deps.countUsage(reported, { request, project }, () => answeredText(choices))
      return {
        usage: recordedUsage(used),
        finishReasons: choices.map(({ finish_reason }) => finish_reason),
        output: () => answerOf(node, request, choices[0]!.message),
      }
    },
  }
}

/** @throws Refusal whose field is the node's, since its author has written no messages */
function requestOf(node: GraphNode, inputs: Values): ChatRequest {
  const messages = chatMessages({
    system: textAt(inputs, 'system'),
    prompt: textAt(inputs, 'prompt') ?? '',
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

function tooLong(): Refusal {
  const { forwardedBytes } = chatLimits
  const reason = `prompt: together with system and the params of the node it is more than ${forwardedBytes} bytes.`
  return refuse('invalid_request', { reason, resolution: 'Send a shorter text to the node.' }, { param: 'prompt' })
}
