import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { askWithPermit, withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { readCaller, storable, readTag } from '../../request/read-headers.ts'
import type { IncomingMessage } from 'node:http'
import { checkBody, type CheckedCall, readCheck } from '@gateway/api/admission-check'
import { composeCheck, refusesKey } from '@gateway/ledger-protocol/compose-check'
import { invalidIssue } from '@gateway/api/field-problem'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { chatLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'

/**
 * GET /v1/key: what the key is bound to, and what it can still spend.
 * @throws Refusal as the admission of a call would
 */
export function showKey(deps: Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger'>): RequestHandler {
  return async (req, res) => {
    const answer = await askWithPermit(deps, req, (caller) => deps.ledger.key(caller))
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    sendJson(res, 200, JSON.stringify(answer.key), { 'Cache-Control': 'private, no-store' })
  }
}

type Needed = Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger' | 'countExactly'>

/**
 * POST /v1/key/check: whether a call would be admitted now (rules §2.10).
 * @throws Refusal of the key itself; `invalid_request`; `overloaded` if the prompt can't be counted in time
 */
export function checkKey(deps: Needed): RequestHandler {
  return (req, res) =>
    withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const check = await decide(deps, { caller, tag: readTag(req) }, await readCall(req))
      sendJson(res, 200, JSON.stringify(check), { 'Cache-Control': 'private, no-store' })
    })
}

async function readCall(req: IncomingMessage): Promise<CheckedCall> {
  const read = checkBody.safeParse(parseJson(await readBody(req, chatLimits.textBodyBytes)))
  if (!read.success) throw invalidIssue(read.error.issues[0]!)
  const call = readCheck(read.data)
  return { ...call, model: storable(call.model) }
}

/** Counts a prompt exactly only if a call would: if it would be refused by its byte count alone (money §2.4). */
async function decide(
  deps: Needed,
  asker: { caller: CallerQuestion; tag: string | null },
  { request, ...call }: CheckedCall,
) {
  const checked = await deps.ledger.checkAdmission({ ...asker, ...call })
  const { refusal } = checked
  if (refusal && refusesKey(refusal)) throw refusalFor(refusal, 'chat')
  if (refusal === null || request === null) return composeCheck({ request, ...call }, checked)
  const count = await deps.countExactly({ payer: asker.caller.keyHash, request }, refusal)
  if (count.kind === 'busy') throw refuse('overloaded', {})
  if (count.kind === 'stands') return composeCheck({ request, ...call }, checked)
  const counted = { ...call, promptSize: { ...call.promptSize, counted: count.tokens } }
  return composeCheck({ request, ...counted }, await deps.ledger.checkAdmission({ ...asker, ...counted }))
}
