import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { ActiveSandbox, SandboxFacts } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { refuse } from '@gateway/api/refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { refusedResult } from '../../../mcp/call-tool.ts'
import {
  type ArgumentsError,
  callsTool,
  findArgumentsError,
  findBatchError,
  type Message,
  openMcpTransport,
  readMessage,
  refuseRebinding,
} from '../../../mcp/transport.ts'
import { callerOf } from '../../../admission/admission.ts'
import { withPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { readCaller, storableId } from '../../../request/read-headers.ts'

// A sandbox product as an MCP server with one tool (flows §5). It is stateless, so any replica can serve any request.
//   M1  Checks run in this order: authorization, the method, the MCP flag, then the contract, which a product that was
//       never activated lacks (flows §5.2).
//   M2  A product of which the key can't start executions lists nothing, but tool calls pass, because a call may be a
//       repeat (rules §5.2).
//   M3  Refusals up to this point are HTTP errors of the usual shape. Later responses are JSON-RPC, from the SDK.

const ONLY_POST = { headers: { Allow: 'POST' } }

/** Serves any method at /v1/sandbox/{id}/mcp. */
export function serveMcp(deps: Deps): RequestHandler<{ id: string }> {
  const transport = openMcpTransport(deps)
  return (req, res) => {
    deps.refusals.nameModel(res, req.params.id)
    return withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const sandbox = await sandboxOf(deps, caller, req.params.id) // M1
      if (req.method !== 'POST') throw refuse('method_not_allowed', { method: req.method, allow: 'POST' }, ONLY_POST)
      if (!sandbox.mcpEnabled) throw refuse('mcp_disabled', {})
      refuseRebinding(deps, req)
      const { requestId, disconnected } = callerOf(res)
      const message = await readMessage(req)
      const active = activeOf(sandbox, isCall(message)) // M2
      const batchError = findBatchError(message.value)
      if (batchError !== null) return sendJson(res, 400, JSON.stringify(batchError))
      const wrong = findArgumentsError(message.value)
      if (wrong !== null) return sendResult(res, wrong)
      await transport.answer({ caller, sandbox: active, requestId, disconnected, req, res }, message)
    })
  }
}

function sendResult(res: ServerResponse, { id, refusal, more }: ArgumentsError): void {
  sendJson(res, 200, JSON.stringify({ jsonrpc: '2.0', id, result: { ...refusedResult(refusal), ...more } }))
}

async function sandboxOf({ ledger }: Pick<Deps, 'ledger'>, caller: CallerQuestion, id: string): Promise<SandboxFacts> {
  const answer = await ledger.readSandbox({ caller, sandbox: storableId(id) })
  if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
  return answer.sandbox
}

function isCall(message: Message): boolean {
  return callsTool(message.value)
}

/** @throws Refusal `key_scope`, `revision_not_active`, `product_not_assigned` */
function activeOf(sandbox: SandboxFacts, isCall: boolean): ActiveSandbox {
  const { revision, suspended } = sandbox
  if (revision !== null && sandbox.unlisted !== null && !isCall)
    throw refuse('key_scope', { resource: sandbox.unlisted })
  if (revision === null || (suspended && !isCall))
    throw refuse('revision_not_active', { revision: null, activeRevision: revision, suspended })
  if (sandbox.unassigned !== null && !isCall) throw refuse('product_not_assigned', { product: sandbox.unassigned })
  return sandbox
}
