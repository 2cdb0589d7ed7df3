import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { sendJson } from '../answer/send-json.ts'
import { readCaller } from '../receive/read-caller.ts'

/**
 * GET /v1/key: who am I, and what may I still spend.
 * @throws Refusal as the admission of a call would
 */
export function showKey({ ledger }: { ledger: Pick<LedgerClient, 'key'> }): RequestHandler {
  return async (req, res) => {
    const answer = await ledger.key(readCaller(req))
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    sendJson(res, 200, JSON.stringify(answer.key), { 'Cache-Control': 'private, no-store' })
  }
}
