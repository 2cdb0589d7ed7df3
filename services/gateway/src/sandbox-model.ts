import type { Response } from 'express'
import { wireUsage } from '@gateway/contracts/chat-answer'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import { times } from '@gateway/contracts/limits'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { failureLine } from './answer/event-lines.ts'
import { openResponseStream, type ResponseStream } from './answer/response-stream.ts'
import { sandboxCompletion, sandboxEvents, type SandboxAnswer } from './answer/sandbox-completion.ts'
import { sendJson } from './answer/send-json.ts'
import { CallerGone } from './receive/caller-gone.ts'
import { promptOfMessages } from './receive/prompt-of-messages.ts'
import type { ReceivedChat } from './receive/receive-chat.ts'
import type { ExplainFailure } from './refuse/explain-failure.ts'
import { refusalOfExecution } from './refuse/refusal-of-run.ts'
import { endTopicOf, type AwaitExecution } from './run/await-run.ts'
import { nameExecution } from './run/name-run.ts'
import type { Execution, ExecutionCaller, StartExecution } from './run/start-run.ts'

/** Answers a chat call whose model is a sandbox product, by a run of it. */
export type AnswerBySandbox = (res: Response, chat: ReceivedChat, caller: ExecutionCaller) => Promise<void>

interface Deps {
  startExecution: StartExecution
  awaitExecution: AwaitExecution
  ledger: Pick<LedgerClient, 'readUsage'>
  explain: ExplainFailure
  now: () => number
  headersWaitMs?: number
}

/** The run has ended by then, so its caller gets the answer if it can be had at all. */
const USAGE_MS = 30_000

/** Whether a model's id is a sandbox product's (spec 2.2). */
export function namesSandbox(model: string): boolean {
  return model.startsWith('sbx-')
}

/** Of a chat call to a sandbox product (spec 4.2, model resolution): its text goes in, one text comes out. */
export function sandboxModel(deps: Deps): AnswerBySandbox {
  const { startExecution, awaitExecution, ledger, explain, now, headersWaitMs = times.headersWaitMs } = deps

  return async (res, chat, caller) => {
    const { keyHash, selector, idempotency, request } = chat
    const input = promptOfMessages(request)
    const asked = {
      keyHash,
      selector,
      sandbox: request.model,
      revision: null,
      surface: 'chat' as const,
      input,
      idempotency,
    }
    const execution = await startExecution(asked, caller, endTopicOf)
    nameExecution(res, execution)
    const reader = request.stream ? openResponseStream(res, { now }) : null
    try {
      const answer = await answerOf(execution, chat, caller.gone, reader)
      if (reader) reader.end(sandboxEvents(answer, request.includeUsage))
      else sendJson(res, 200, sandboxCompletion(answer))
    } catch (error) {
      if (!reader?.isOpen() || error instanceof CallerGone) throw error
      reader.end(failureLine(explain(error, res)))
    } finally {
      execution.waiter.close()
    }
  }

  /** Headers of a stream wait for the text or 10 s: before them a failure is an HTTP error (decisions.md, 3). */
  async function answerOf(
    execution: Execution,
    { request, idempotency }: ReceivedChat,
    gone: AbortSignal,
    reader: ResponseStream | null,
  ) {
    const openLate = setTimeout(() => reader?.open(), headersWaitMs)
    try {
      const record = JSON.parse(await awaitExecution(execution, gone)) as ExecutionRecord
      if (record.status === 'Failed') throw refusalOfExecution(record, idempotency !== null)
      const usage = await ledger.readUsage({ execution: record.id }, { budgetMs: USAGE_MS })
      return answerFrom(record, request.model, execution.textField, wireUsage(usage))
    } finally {
      clearTimeout(openLate)
    }
  }
}

function answerFrom(
  { id, project, chargedMicro, output, completedAt }: ExecutionRecord,
  model: string,
  field: string | null,
  usage: SandboxAnswer['usage'],
): SandboxAnswer {
  if (field === null) throw new Error(`the run ${id} was begun as a chat and has no text field`)
  const text = output?.[field]
  return {
    execution: id,
    project,
    chargedMicro,
    model,
    created: Math.floor(Date.parse(completedAt!) / 1000),
    text: typeof text === 'string' ? text : '', // an optional output that no branch came to
    usage,
  }
}
