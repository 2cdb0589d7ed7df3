import type { ServerResponse } from 'node:http'
import { wireUsage } from '@gateway/contracts/chat-answer'
import type { Completion } from '@gateway/providers/chat-port'
import type { CallProvider } from '../call/call-provider.ts'
import type { Call } from '../call/call.ts'
import type { CountUsage } from '@gateway/tokens/counted-usage'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import { sendJson } from './send-json.ts'

export type AnswerJson = (res: ServerResponse, call: Call) => Promise<void>

interface Deps {
  provider: Pick<CallProvider, 'completion'>
  countUsage: CountUsage
  /** Unix milliseconds. */
  now: () => number
}

/**
 * Answers a call in one piece: call, settle, send (decisions.md, 3). What is saved is what is sent, byte for byte.
 * @throws ProviderFailure, Stopping
 */
export function jsonAnswer({ provider, countUsage, now }: Deps): AnswerJson {
  return async (res, call) => {
    const askedMs = now()
    const { choices, usage: reported } = await provider.completion(call)
    call.timing.providerMs = now() - askedMs
    const usage = await countUsage(reported, call.request, () => textOf(choices))
    const body = JSON.stringify({
      id: call.admitted.invocation,
      object: 'chat.completion',
      created: Math.floor(now() / 1000),
      model: call.request.model,
      choices,
      usage: wireUsage(usage),
    })
    await call.hold.settle(usage, { contentType: 'application/json', body })
    sendJson(res, 200, body)
  }
}

function textOf(choices: Completion['choices']): string {
  const answered = openTextAccumulator()
  for (const { message } of choices) answered.append(message)
  return answered.text()
}
