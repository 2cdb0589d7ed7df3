import type { ServerResponse } from 'node:http'
import type { AnswerUsage, ChunkChoice } from '@gateway/api/chat-answer'
import type { AnswerEnd, AnswerWriter } from '@gateway/api/wires/wire'
import type { ExecutionRecord } from '@gateway/api/execution'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { sendJson } from '@gateway/service-kit/http/answers'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import { explainError, refusalOfExecution, unread } from '../errors/explain-error.ts'
import type { ChatCall } from '../request/read-chat.ts'
import { eventStream, openLate, openResponseStream } from '../response/response-stream.ts'
import { awaitExecution, endTopicOf } from './await-execution.ts'
import { setExecutionHeaders } from './send-execution.ts'
import { type Execution, startExecution } from './start-execution.ts'
import type { ChatRequest, Forwarded } from '@gateway/api/chat-request'
import { invalidField } from '@gateway/api/field-problem'
import type { CountTokens } from '@gateway/tokens/token-counter'

type Needed = Parameters<typeof startExecution>[0] &
  Parameters<typeof awaitExecution>[0] &
  Pick<Deps, 'ledger' | 'countTokens' | 'log' | 'metrics' | 'now' | 'refusals'>

/** The execution has already ended, so it is worth waiting long for the ledger. */
const USAGE_MS = 30_000

/**
 * Serves a chat call to a sandbox product by executing it (rules §3.9): text in, text out. The headers of a stream
 * wait for the text or 10 s; before them a failure is an HTTP error (rules §3.7).
 */
export async function chatWithSandbox(
  deps: Needed,
  res: ServerResponse,
  { keyHash, selector, tag, idempotency, request, wire, openAnswer }: ChatCall,
  caller: Caller,
): Promise<void> {
  const input = promptOfMessages(request)
  const surface = 'chat'
  const asked = { keyHash, selector, tag, sandbox: request.model, revision: null, surface, input, idempotency } as const
  const execution = await startExecution(deps, asked, caller, endTopicOf)
  setExecutionHeaders(res, execution)
  const stream = request.stream ? openResponseStream(res, { now: deps.now, kind: eventStream(wire) }) : null
  const openWriter = (created: number) => openAnswer({ id: execution.execution, model: request.model, created })
  try {
    const answer = await openLate(stream, answerOf(deps, execution, request, caller.disconnected))
    const writer = openWriter(answer.created)
    if (stream) stream.end(sandboxEvents(writer, answer))
    else sendJson(res, 200, sandboxCompletion(writer, answer))
  } catch (error) {
    if (!stream?.isOpen() || error instanceof ClientDisconnected) throw error
    stream.end(openWriter(Math.floor(deps.now() / 1000)).broken(explainError(deps, error, res)))
  } finally {
    execution.close()
  }
}

async function answerOf(
  deps: Needed,
  execution: Execution,
  request: ChatRequest,
  disconnected: AbortSignal,
): Promise<SandboxAnswer> {
  const ended = await awaitExecution(deps, execution, disconnected)
  const record = JSON.parse(ended.record) as ExecutionRecord
  if (record.status !== 'Succeeded') throw refusalOfExecution(record, execution.keyed)
  const usage = await deps.ledger
    .readUsage({ execution: record.id }, { budgetMs: USAGE_MS })
    .catch((error: unknown) => {
      throw error instanceof LedgerUnavailable ? unread(execution, record.chargedMicro) : error
    })
  const { text, ...facts } = factsOf(record, execution.textField)
  const cut = await cutAnswer(text, request, (part) => deps.countTokens(part, record.project))
  return { ...facts, ...cut, usage }
}

function factsOf({ id, project, chargedMicro, output, completedAt }: ExecutionRecord, field: string | null) {
  if (field === null) throw new Error(`the execution ${id} was started as a chat and has no text field`)
  const text = output?.[field]
  return {
    execution: id,
    project,
    chargedMicro,
    created: Math.floor(Date.parse(completedAt!) / 1000),
    text: typeof text === 'string' ? text : '', // an optional output that no branch reached
  }
}

/**
 * A succeeded execution as the response of a model (rules §3.9). All of it is recorded, so that a repeat is identical.
 */
export interface SandboxAnswer {
  execution: string
  project: string
  chargedMicro: number
  /** When the execution ended, Unix seconds. */
  created: number
  text: string
  finish: CutAnswer['finish']
  usage: AnswerUsage
}

function sandboxCompletion(writer: AnswerWriter, answer: SandboxAnswer): string {
  const message = { role: 'assistant' as const, content: answer.text, refusal: null }
  return writer.whole([{ index: 0, message, logprobs: null, finish_reason: answer.finish }], endOf(answer))
}

/** The events of the stream: the text in one chunk, then the end. */
function sandboxEvents(writer: AnswerWriter, answer: SandboxAnswer): string {
  const chunk = (delta: ChunkChoice['delta'], finish: ChunkChoice['finish_reason']) =>
    writer.chunk([{ index: 0, delta, finish_reason: finish }])
  const spoken = chunk({ role: 'assistant', content: answer.text }, null) + chunk({}, answer.finish)
  return spoken + writer.end(endOf(answer))
}

function endOf({ execution, project, chargedMicro, usage }: SandboxAnswer): AnswerEnd {
  const service = { kind: 'sandbox', execution_id: execution, project, charged_micro: chargedMicro }
  return { usage, chargedMicro, service }
}

/** Sampling parameters, which have no effect here: the nodes of a flow have their own. `stop` is applied to the text. */
const TAKEN = new Set(['stop', 'frequency_penalty', 'presence_penalty', 'logit_bias'])

/**
 * Returns the input text of a chat call to a sandbox product (rules §3.9): a single message unchanged, or for several
 * messages `role: text` blocks separated by blank lines.
 * @throws Refusal `invalid_request` for anything that a text-in flow can't take
 */
export function promptOfMessages({ forwarded, conditional }: Pick<ChatRequest, 'forwarded' | 'conditional'>): string {
  const unsupported = conditional.find((parameter) => !TAKEN.has(parameter))
  if (unsupported !== undefined)
    throw invalidField(unsupported, 'is not supported by a sandbox product', 'leave it out, or call another model')
  const { messages } = forwarded
  const texts = messages.map(textOf)
  if (texts.length === 1) return texts[0]!
  return messages.map(({ role }, n) => `${role}: ${texts[n]}`).join('\n\n')
}

function textOf(message: Forwarded['messages'][number], n: number): string {
  if (message.role === 'assistant' && message.tool_calls)
    throw notText(`messages.${n}.tool_calls`, 'leave it out: a sandbox product takes text alone')
  const { content } = message
  if (typeof content === 'string') return content
  let text = ''
  for (const [at, part] of (content ?? []).entries()) {
    if (part.type !== 'text') throw notText(`messages.${n}.content.${at}`, 'send text parts alone')
    text += part.text
  }
  return text
}

function notText(field: string, resolution: string) {
  return invalidField(field, 'is not text, which is all that this model takes', resolution)
}

interface CutAnswer {
  text: string
  finish: 'stop' | 'length'
}

/**
 * Applies `stop` and `max_tokens` to the text of a sandbox product, as a model would (rules §3.9). Tokens are our own
 * count. The same text and request give the same result.
 */
export async function cutAnswer(
  text: string,
  { forwarded, maxTokens }: Pick<ChatRequest, 'forwarded' | 'maxTokens'>,
  count: (text: string) => ReturnType<CountTokens>,
): Promise<CutAnswer> {
  const stopped = beforeStop(text, [forwarded['stop'] ?? []].flat() as string[])
  if (!maxTokens || (await count(stopped)) <= maxTokens) return { text: stopped, finish: 'stop' }
  return { text: await firstTokens(stopped, maxTokens, count), finish: 'length' }
}

function beforeStop(text: string, sequences: readonly string[]): string {
  const found = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...found))
}

/** The longest beginning with at most this many tokens, cut between characters. */
async function firstTokens(
  text: string,
  maxTokens: number,
  count: (text: string) => ReturnType<CountTokens>,
): Promise<string> {
  const characters = Array.from(text)
  const beginning = (length: number) => characters.slice(0, length).join('')
  let [fits, exceeds] = [0, characters.length]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if ((await count(beginning(middle))) <= maxTokens) fits = middle
    else exceeds = middle
  }
  return beginning(fits)
}
