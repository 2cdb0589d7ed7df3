import type { RequestHandler } from 'express'
import type { ActiveSandbox, SandboxFacts } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { refuse } from '@gateway/api/refusal'
import { disconnectSignal } from '@gateway/service-kit/http/read-body'
import { callsTool, type Message, openMcpTransport, readMessage } from '../../../mcp/transport.ts'
import { withPermit, type Permit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { refuseRebinding } from '../../../mcp/dns-rebinding-guard.ts'
import { readCaller, storableId } from '../../../request/read-headers.ts'

// A sandbox product as an MCP server of one tool (flows §5). Nothing is kept between two requests, so any replica
// answers any.
//   M1  Authorization, then the flag, then the method; only then the contract, which a product that was never activated
//       has none of (flows §5.2).
//   M2  A product that begins no execution lists nothing; a call of its tool is let through to where a repeat is known
//       (rules §5.2).
//   M3  Refusals up to here are HTTP answers in our shape. Answers after that are JSON-RPC, by the SDK.

const ONLY_POST = { headers: { Allow: 'POST' } }

/** Any method at /v1/sandbox/{id}/mcp. */
export function serveMcp(deps: Deps): RequestHandler<{ id: string }> {
  const transport = openMcpTransport(deps)
  return (req, res) => {
    deps.refusals.nameModel(res, req.params.id)
    const caller = readCaller(req)
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async (permit) => {
      const sandbox = await sandboxOf(deps, caller, req.params.id, permit) // M1
      if (!sandbox.mcpEnabled) throw refuse('mcp_disabled', {})
      if (req.method !== 'POST') throw refuse('method_not_allowed', { method: req.method, allow: 'POST' }, ONLY_POST)
      refuseRebinding(deps, req)
      const disconnected = disconnectSignal(res)
      const message = await readMessage(req)
      const active = activeOf(sandbox, isCall(message)) // M2
      await transport.answer({ caller, sandbox: active, permit, disconnected, req, res }, message)
    })
  }
}

async function sandboxOf(
  { ledger }: Pick<Deps, 'ledger'>,
  caller: CallerQuestion,
  id: string,
  permit: Permit,
): Promise<SandboxFacts> {
  const answer = await ledger.readSandbox({ caller, sandbox: storableId(id) })
  if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
  permit.attributeTo(answer.sandbox.project)
  return answer.sandbox
}

function isCall(message: Message): boolean {
  return callsTool(message.value)
}

/** @throws Refusal `revision_not_active`, `product_not_assigned` */
function activeOf(sandbox: SandboxFacts, isCall: boolean): ActiveSandbox {
  const { revision, suspended } = sandbox
  if (revision === null || (suspended && !isCall))
    throw refuse('revision_not_active', { revision: null, activeRevision: revision, suspended })
  if (sandbox.unassigned !== null && !isCall) throw refuse('product_not_assigned', { product: sandbox.unassigned })
  return sandbox
}
