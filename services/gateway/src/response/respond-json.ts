import type { ServerResponse } from 'node:http'
import { wireUsage } from '@gateway/contracts/chat-answer'
import { sendJson } from '@gateway/service-kit/http/send'
import type { Completion } from '@gateway/providers/chat-port'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import type { Deps } from '../deps.ts'
import type { Call } from '../provider-call/call.ts'
import { callForCompletion } from '../provider-call/call-provider.ts'
import { settleAndTell } from '../provider-call/settle-and-tell.ts'

type Needed = Pick<Deps, 'now' | 'countUsage'> &
  Parameters<typeof callForCompletion>[0] &
  Parameters<typeof settleAndTell>[0]

/**
 * Answers a call in one piece: call, settle, send (rules §3.6). What is saved is what is sent, byte for byte.
 * @throws ProviderFailure, ProcessStopping
 */
export async function respondJson(deps: Needed, res: ServerResponse, call: Call): Promise<void> {
  const startMs = deps.now()
  const { choices, usage: reported } = await callForCompletion(deps, call)
  call.timing.providerMs = deps.now() - startMs
  const asked = { request: call.request, project: call.admitted.project }
  const usage = await deps.countUsage(reported, asked, () => textOf(choices))
  const created = Math.floor(deps.now() / 1000)
  const body = await settleAndTell(deps, call, usage, {
    write: (chargedMicro) =>
      JSON.stringify({
        id: call.admitted.invocation,
        object: 'chat.completion',
        created,
        model: call.request.model,
        choices,
        usage: wireUsage(usage, chargedMicro),
      }),
    save: (text) => ({ contentType: 'application/json', body: text }),
  })
  sendJson(res, 200, body)
}

function textOf(choices: Completion['choices']): string {
  const answered = openTextAccumulator()
  for (const { message } of choices) answered.append(message)
  return answered.text()
}
