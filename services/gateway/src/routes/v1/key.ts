import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { askWithPermit, withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { readCaller, storable } from '../../request/read-headers.ts'
import type { IncomingMessage } from 'node:http'
import { checkBody, type CheckedCall, readCheck } from '@gateway/api/admission-check'
import { composeCheck, refusesKey } from '@gateway/ledger-protocol/compose-check'
import { invalidIssue } from '@gateway/api/field-problem'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { chatLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'

/**
 * GET /v1/key: who am I, and what may I still spend.
 * @throws Refusal as the admission of a call would
 */
export function showKey(deps: Pick<Deps, 'concurrencyLimiter' | 'ledger'>): RequestHandler {
  return async (req, res) => {
    const caller = readCaller(req)
    const answer = await askWithPermit(deps.concurrencyLimiter, caller.keyHash, () => deps.ledger.key(caller))
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    sendJson(res, 200, JSON.stringify(answer.key), { 'Cache-Control': 'private, no-store' })
  }
}

type Needed = Pick<Deps, 'concurrencyLimiter' | 'ledger' | 'countExactly'>

/**
 * POST /v1/key/check: would this call be admitted now? (rules §2.10)
 * @throws Refusal of the key itself; `invalid_request`; `overloaded` where its prompt can't be counted in time
 */
export function checkKey(deps: Needed): RequestHandler {
  return (req, res) => {
    const caller = readCaller(req)
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async () => {
      const check = await decide(deps, caller, await readCall(req))
      sendJson(res, 200, JSON.stringify(check), { 'Cache-Control': 'private, no-store' })
    })
  }
}

async function readCall(req: IncomingMessage): Promise<CheckedCall> {
  const read = checkBody.safeParse(parseJson(await readBody(req, chatLimits.textBodyBytes)))
  if (!read.success) throw invalidIssue(read.error.issues[0]!)
  const call = readCheck(read.data)
  return { ...call, model: storable(call.model) }
}

/** A prompt is counted where a call would count it: only where its bytes alone would be refused (money §2.4). */
async function decide(deps: Needed, caller: CallerQuestion, { request, ...call }: CheckedCall) {
  const checked = await deps.ledger.checkAdmission({ caller, ...call })
  const { refusal } = checked
  if (refusal && refusesKey(refusal)) throw refusalFor(refusal, 'chat')
  if (refusal === null || request === null) return composeCheck({ request, ...call }, checked)
  const count = await deps.countExactly({ payer: caller.keyHash, request }, refusal)
  if (count.kind === 'busy') throw refuse('overloaded', {})
  if (count.kind === 'stands') return composeCheck({ request, ...call }, checked)
  const counted = { ...call, promptSize: { ...call.promptSize, counted: count.tokens } }
  return composeCheck({ request, ...counted }, await deps.ledger.checkAdmission({ caller, ...counted }))
}
