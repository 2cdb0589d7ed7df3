import type { Request, RequestHandler, Response } from 'express'
import type { SandboxFacts } from '@gateway/contracts/flow-reads'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Place, ConcurrencyLimiter } from '../admit/concurrency-limiter.ts'
import { goneOf } from '../receive/gone-of.ts'
import { inPlace } from '../receive/in-place.ts'
import { readCaller } from '../receive/read-caller.ts'
import { storable } from '../receive/selector.ts'
import { callsTool, readMessage, type Message } from './read-message.ts'
import type { RefuseStrangers } from './refuse-strangers.ts'
import type { Speak } from './speak.ts'

// A sandbox product as an MCP server of one tool (spec 4.4). Nothing is kept between two requests, so any replica answers any.
//   M1  Who may not call is told so before anything else, and GET and DELETE are refused behind that (decisions.md, 8).
//   M2  A suspended product lists nothing; a call of its tool is let through to where a repeat is known (decisions.md, 4).
//   M3  Refusals up to here are HTTP answers in our shape. Whatever is said behind here is JSON-RPC, by the SDK.

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  ledger: Pick<LedgerClient, 'readSandbox'>
  refuseStrangers: RefuseStrangers
  speak: Speak
}

type Sandbox = { id: string }

/** No id of ours is longer. */
const MOST_CHARACTERS = 256
const ONLY_POST = { headers: { Allow: 'POST' } }

/** Any method at /v1/sandbox/{id}/mcp. */
export function serveMcp({ places, ledger, refuseStrangers, speak }: Deps): RequestHandler<Sandbox> {
  return (req, res) => {
    const caller = readCaller(req)
    return inPlace(places, res, caller.keyHash, async (place) => {
      const sandbox = await sandboxOf(caller, req.params.id, place) // M1
      if (!sandbox.mcpEnabled) throw refuse('mcp_disabled', {})
      if (req.method !== 'POST') throw refuse('method_not_allowed', { method: req.method, allow: 'POST' }, ONLY_POST)
      refuseStrangers(req)
      await answer(req, res, { caller, sandbox, place })
    })
  }

  async function answer(
    req: Request<Sandbox>,
    res: Response,
    visit: { caller: CallerQuestion; sandbox: SandboxFacts; place: Place },
  ) {
    const gone = goneOf(res)
    const message = await readMessage(req)
    if (visit.sandbox.suspended && !isCall(message)) throw suspended(visit.sandbox) // M2
    await speak(req, res, { ...visit, gone }, message)
  }

  async function sandboxOf(caller: CallerQuestion, id: string, place: Place): Promise<SandboxFacts> {
    const answer = await ledger.readSandbox({ caller, sandbox: storable(id).slice(0, MOST_CHARACTERS) })
    if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
    place.countsFor(answer.sandbox.project)
    return answer.sandbox
  }
}

function isCall(message: Message): boolean {
  return 'value' in message && callsTool(message.value)
}

function suspended({ revision }: SandboxFacts) {
  return refuse('revision_not_active', { revision: null, activeRevision: revision, suspended: true })
}
