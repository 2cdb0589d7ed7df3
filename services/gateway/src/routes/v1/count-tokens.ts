import type { RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import { countTokensWire } from '@gateway/api/wires/messages/messages-wire'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { callerOf } from '../../admission/admission.ts'
import { withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { isLargerThanText, makeRoomForBody } from '../../attachments/prepare-attachments.ts'
import { readChat } from '../../request/read-chat.ts'

type Needed = Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger' | 'imageMemory' | 'countUsage'>

/**
 * POST /v1/messages/count_tokens: our own count of the text of a request to a model that the key can call. It reserves
 * and charges nothing.
 */
export function countTokens(deps: Needed): RequestHandler {
  return (req, res) =>
    withPermit(deps, res, async (keyHash, permit, project) => {
      if (isLargerThanText(req)) await makeRoomForBody(deps, req, keyHash, { ...callerOf(res), permit })
      const { request, selector } = await readChat(countTokensWire, req, keyHash)
      const { model } = request
      const answer = await deps.ledger.models({ keyHash, selector })
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      if (!answer.entries.some(({ id }) => id === model)) throw refuse('model_not_found', { model }, { param: 'model' })
      // Counted like a call without a response.
      const { promptTokens } = await deps.countUsage('cut', { request, project, provider: '' }, () => '')
      sendJson(res, 200, JSON.stringify({ input_tokens: promptTokens }), { 'Cache-Control': 'private, no-store' })
    })
}
