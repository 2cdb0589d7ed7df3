import type { ServerResponse } from 'node:http'
import { wireUsage } from '@gateway/contracts/chat-answer'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import { ClientDisconnected } from '@gateway/service-kit/http/client-disconnected'
import { sendJson } from '@gateway/service-kit/http/send'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import { explainError } from '../errors/explain-error.ts'
import { refusalOfExecution } from '../errors/refusal-of-execution.ts'
import type { ChatCall } from '../request/read-chat.ts'
import { failureLine } from '../response/event-lines.ts'
import { openLate, openResponseStream } from '../response/response-stream.ts'
import { awaitExecution, endTopicOf } from './await-execution.ts'
import { promptOfMessages } from './prompt-of-messages.ts'
import { sandboxCompletion, sandboxEvents, type SandboxAnswer } from './sandbox-completion.ts'
import { setExecutionHeaders } from './send-execution.ts'
import { startExecution, type Execution } from './start-execution.ts'

type Needed = Parameters<typeof startExecution>[0] &
  Parameters<typeof awaitExecution>[0] &
  Pick<Deps, 'ledger' | 'log' | 'metrics' | 'now' | 'refusals'>

/** The execution has ended by then, so its caller gets the answer if it can be had at all. */
const USAGE_MS = 30_000

/**
 * Answers a chat call to a sandbox product by an execution of it (rules §3.9): its text goes in, one
 * text comes out. Headers of a stream wait for the text or 10 s: before them a failure is an HTTP error (rules §3.7).
 */
export async function chatWithSandbox(
  deps: Needed,
  res: ServerResponse,
  { keyHash, selector, idempotency, request }: ChatCall,
  caller: Caller,
): Promise<void> {
  const input = promptOfMessages(request)
  const surface = 'chat'
  const asked = { keyHash, selector, sandbox: request.model, revision: null, surface, input, idempotency } as const
  const execution = await startExecution(deps, asked, caller, endTopicOf)
  setExecutionHeaders(res, execution)
  const stream = request.stream ? openResponseStream(res, deps) : null
  try {
    const answer = await openLate(stream, answerOf(deps, execution, request.model, caller.disconnected))
    if (stream) stream.end(sandboxEvents(answer, request.includeUsage))
    else sendJson(res, 200, sandboxCompletion(answer))
  } catch (error) {
    if (!stream?.isOpen() || error instanceof ClientDisconnected) throw error
    stream.end(failureLine(explainError(deps, error, res)))
  } finally {
    execution.close()
  }
}

async function answerOf(
  deps: Needed,
  execution: Execution,
  model: string,
  disconnected: AbortSignal,
): Promise<SandboxAnswer> {
  const ended = await awaitExecution(deps, execution, disconnected)
  const record = JSON.parse(ended.record) as ExecutionRecord
  if (record.status !== 'Succeeded') throw refusalOfExecution(record, execution.keyed)
  const usage = await deps.ledger.readUsage({ execution: record.id }, { budgetMs: USAGE_MS })
  return { ...factsOf(record, execution.textField), model, usage: wireUsage(usage, record.chargedMicro) }
}

function factsOf({ id, project, chargedMicro, output, completedAt }: ExecutionRecord, field: string | null) {
  if (field === null) throw new Error(`the execution ${id} was begun as a chat and has no text field`)
  const text = output?.[field]
  return {
    execution: id,
    project,
    chargedMicro,
    created: Math.floor(Date.parse(completedAt!) / 1000),
    text: typeof text === 'string' ? text : '', // an optional output that no branch came to
  }
}
