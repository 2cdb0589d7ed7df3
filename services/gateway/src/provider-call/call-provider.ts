import { type Span, SpanKind } from '@opentelemetry/api'
import { inSpan, markFailed, startSpan, withSpan } from '@gateway/service-kit/process/spans'
import type { ChatAnswer, ChatChunk, Completion, Route, Usage } from '@gateway/providers/chat-port'
import { answerAttributes, callAttributes, contentAttributes } from '@gateway/providers/call-attributes'
import { forwardedFor } from '@gateway/providers/exchange'
import type { Deps } from '../deps.ts'
import type { ChatRequest } from '@gateway/api/chat-request'
import type { ChatWire, OpenAnswer } from '@gateway/api/wires/wire'
import type { AdmittedCall } from '../admission/admission.ts'
import type { Capture } from '../capture/open-capture.ts'
import type { CallAttachments } from '../attachments/prepare-attachments.ts'
import { openTextAccumulator } from '@gateway/tokens/token-counter'
import { chargeOfUsage, recordedUsage } from '@gateway/pricing/usage'
import type { SettleItem, OutcomeOf } from '@gateway/ledger-protocol/ledger-items'
import { providerCost } from '@gateway/ledger-protocol/provider-report'
import type { CountedUsage } from '@gateway/tokens/counted-usage'
import { settlesWithin } from '@gateway/service-kit/async/waiting'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { openTimingLog, type TimingLog } from '@gateway/providers/timing-log'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import type { Place } from '../rates/rates.ts'

// Calls the provider of an admitted product, in a span that follows the semantic conventions for generative AI.
// packages/providers enforces the 300 s time limit; here a call ends early only if this process must stop, or if its
// caller disconnects while it waits for a connection.

type Needed = Pick<Deps, 'providers' | 'openCalls' | 'traceContent'>

type AnswerOf<Kind extends ChatAnswer['kind']> = Extract<ChatAnswer, { kind: Kind }>

/** @throws ProviderFailure, ProcessStopping, ClientDisconnected */
export function callForCompletion(deps: Needed, call: Call): Promise<AnswerOf<'completion'>> {
  return withSpan(nameOf(call), spanOptions(deps, call), async (span) => {
    const answer = await ask(deps, call)
    if (answer.kind !== 'completion')
      throw new Error('the provider streamed a response that was not requested as a stream')
    if (span.isRecording()) noteAnswer(span, call, answer.completion, deps.traceContent)
    return answer
  })
}

/**
 * Resolves at the first chunk. The chunks must be read once and to the end, which ends the span.
 * @throws ProviderFailure, ProcessStopping: here and while reading; ClientDisconnected here
 */
export async function callForChunks(deps: Needed, call: Call): Promise<AnswerOf<'stream'>> {
  const span = startSpan(nameOf(call), spanOptions(deps, call))
  try {
    const answer = await inSpan(span, () => ask(deps, call))
    if (answer.kind !== 'stream')
      throw new Error('the provider returned a whole response that was requested as a stream')
    if (!span.isRecording()) return answer
    return { ...answer, chunks: noteChunks(span, call, answer.chunks, deps.traceContent) }
  } catch (error) {
    markFailed(span, error)
    span.end()
    throw error
  }
}

async function ask(deps: Needed, call: Call): Promise<ChatAnswer> {
  const { providers, openCalls } = deps
  const { request, admitted, disconnected } = call
  const { routes, project, outputCap, supportedParameters } = admitted
  const assetUrls = await call.attachments?.load(project)
  return providers.chat({
    routes,
    reference: { product: request.model, invocation: admitted.invocation },
    project,
    forwarded: forwardedFor(request, supportedParameters, assetUrls),
    outputCap,
    stream: request.stream,
    signal: openCalls.cancellation,
    disconnected,
    timing: call.reservation.timing,
  })
}

function nameOf({ request: { model } }: Call): string {
  return `chat ${model}`
}

function spanOptions({ traceContent }: Needed, { request, admitted }: Call) {
  const facts = {
    operation: 'chat' as const,
    product: request.model,
    invocation: admitted.invocation,
    maxTokens: admitted.outputCap,
    stream: request.stream,
  }
  const attributes = {
    ...callAttributes(facts),
    'service.project': admitted.project,
    ...(traceContent && contentAttributes('input', request.forwarded['messages'])),
  }
  return { kind: SpanKind.CLIENT, attributes }
}

/** An admitted call: its request, admission and reservation. */
export interface Call {
  request: ChatRequest
  wire: Pick<ChatWire, 'keepAlive'>
  openAnswer: OpenAnswer
  admitted: AdmittedCall
  /** null without images. Their bytes are read when the provider is called. */
  attachments: Pick<CallAttachments, 'load'> | null
  /** Aborts when the caller disconnects, with `ClientDisconnected`. */
  disconnected: AbortSignal
  reservation: Reservation
  /** null: the project does not capture content. */
  capture: Capture | null
  /** Duration of the provider call, with the wait for a connection, set once its response is complete. */
  timing: { providerMs: number }
}

/** Records a complete response on the span of its call. */
function noteAnswer(span: Span, call: Call, { choices, usage }: Completion, withContent: boolean): void {
  const finishReasons = choices.map(({ finish_reason }) => finish_reason)
  noteEnd(span, call, { usage, finishReasons })
  const messages = choices.map(({ message }) => message)
  if (withContent) span.setAttributes(contentAttributes('output', messages))
}

/** Passes chunks through, records them on the span of their call, and ends the span after the last one. */
async function* noteChunks(
  span: Span,
  call: Call,
  chunks: AsyncIterable<ChatChunk>,
  withContent: boolean,
): AsyncIterable<ChatChunk> {
  let usage: Usage | null = null
  const finishReasons: string[] = []
  const answered = withContent ? openTextAccumulator() : null
  span.addEvent('first chunk')
  try {
    for await (const chunk of chunks) {
      usage = chunk.usage ?? usage
      for (const { delta, finish_reason } of chunk.choices) {
        if (finish_reason !== null) finishReasons.push(finish_reason)
        answered?.append(delta)
      }
      yield chunk
    }
  } catch (error) {
    markFailed(span, error)
    throw error
  } finally {
    noteEnd(span, call, { usage, finishReasons })
    if (answered) span.setAttributes(contentAttributes('output', [{ role: 'assistant', content: answered.text() }]))
    span.end()
  }
}

function noteEnd(span: Span, call: Call, answer: { usage: Usage | null; finishReasons: string[] }): void {
  span.setAttributes(answerAttributes({ product: call.request.model, invocation: call.admitted.invocation, ...answer }))
}

// The response contains its cost, and the settlement that charges the call also saves the response (rules §3.6).
//   C1  So the response is written before the settlement, with the amount it will charge, which depends only on usage,
//       price and reservation. Only a settlement that charges keeps the saved response.
//   C2  The response is sent after the settlement, with cost 0 if no one was charged. If the outcome isn't known yet,
//       it is sent as written: the settlement continues until it is decided, and a repeat gets the saved bytes. If it
//       charges no one in the end, the reported cost was higher than the charge, never lower.
//   C3  If the ledger returns no price, the response has no cost, so that a repeat is identical.

/** Writes the text that contains the cost, and the response to save. */
interface ToolResult {
  /** @param chargedMicro null to omit the cost */
  write: (chargedMicro: number | null) => string
  save: (text: string) => Promise<SettleItem['answer']> | SettleItem['answer']
}

/** Settles a call, whose route is the one that responded, and returns the text to send afterwards. */
export async function settleAndAnswer(
  deps: Parameters<typeof settle>[0],
  { admitted, reservation }: Pick<Call, 'admitted' | 'reservation'>,
  { usage, route }: { usage: CountedUsage; route: Route },
  { write, save }: ToolResult,
): Promise<string> {
  const { price, reservedMicro } = admitted
  const recorded = recordedUsage(usage)
  const expected = price === undefined ? null : chargeOfUsage(price, recorded, reservedMicro) // C1
  const text = write(expected)
  const charged = await settle(deps, reservation, usage, await save(text), providerCost(admitted, route, recorded))
  return expected === null || charged === null || charged === expected ? text : write(charged) // C2, C3
}

// Closes the reservation of a call. Neither `settle` nor `release` ever rejects.
//   H1  The first of the two closes it. Later calls do nothing.
//   H2  The caller waits at most PATIENCE_MS. Then they get their response and the settlement continues while this
//       process lives; if the process dies first, the call is written off (architecture §M6).
//   H3  Callers waiting for this invocation are notified once it is closed.

export interface Reservation {
  id: string
  invocation: string
  /** Of its admission, for the settlement. */
  receipt: string | undefined
  /** Whether its call has an idempotency key, so that the response is saved. */
  keyed: boolean
  /** Whether closing has started (H1). */
  closed: boolean
  /** Of the call within its rate limits: it ends with the reservation. */
  place: Place
  /** Opened at the admission. Sent with the end of the reservation. */
  timing: TimingLog
}

type ClosingDeps = Pick<Deps, 'ledger' | 'notifier' | 'openCalls' | 'metrics' | 'log'>
type Outcome = OutcomeOf<'settle'> | OutcomeOf<'release'>

const PATIENCE_MS = 3_000

export function openReservation(
  {
    reservation: id,
    invocation,
    receipt,
    place,
  }: Pick<AdmittedCall, 'reservation' | 'invocation' | 'receipt' | 'place'>,
  keyed: boolean,
): Reservation {
  return { id, invocation, receipt, keyed, closed: false, place, timing: openTimingLog() }
}

/**
 * Charges the usage and, for a call with an idempotency key, saves the response. Returns the charge in micro-USD, or
 * null if it is not recorded yet.
 * @param cost of the provider
 */
async function settle(
  deps: ClosingDeps,
  reservation: Reservation,
  usage: CountedUsage,
  answer: SettleItem['answer'],
  cost: Pick<SettleItem, 'costPico'>,
): Promise<number | null> {
  const { id, receipt, keyed } = reservation
  const saved = keyed && isSmallEnough(answer) ? answer : null
  reservation.place.settle(usage.promptTokens + usage.completionTokens)
  const outcome = await close(deps, reservation, () =>
    deps.ledger.settle({
      id,
      usage: recordedUsage(usage),
      ...(receipt && { receipt }),
      answer: saved,
      timing: reservation.timing.read(),
      ...cost,
    }),
  )
  return chargedBy(outcome)
}

function chargedBy(outcome: Outcome | null): number | null {
  switch (outcome?.kind) {
    case 'settled':
      return outcome.chargedMicro
    case 'fenced':
    case 'unknown':
    case 'released':
      return 0
    case 'quarantined':
    case undefined:
      return null
  }
}

/** Releases the whole reservation. The call is not charged. */
export async function release(deps: ClosingDeps, reservation: Reservation, reason: string): Promise<void> {
  reservation.place.settle(0)
  await close(deps, reservation, () =>
    deps.ledger.release({
      id: reservation.id,
      reason: reason.slice(0, 200) || 'failed',
      timing: reservation.timing.read(),
    }),
  )
}

/** The reason of the release of a call that failed by this error (compose-invocation.ts). */
export function reasonOf(error: unknown): string {
  if (error instanceof ClientDisconnected || (error instanceof ProviderFailure && error.kind === 'busy'))
    return 'it was not sent'
  return error instanceof Error ? error.message : 'failed'
}

/** Returns null if it is already closed, or the outcome is not known yet. */
async function close(
  deps: ClosingDeps,
  reservation: Reservation,
  ask: () => Promise<Outcome>,
): Promise<Outcome | null> {
  if (reservation.closed) return null // H1
  reservation.closed = true
  const closed = deps.openCalls.track(askUntilClosed(deps, reservation, ask))
  if (await settlesWithin(PATIENCE_MS, closed)) return closed
  deps.metrics.closed('late') // H2
  return null
}

async function askUntilClosed(
  { notifier, metrics, log }: ClosingDeps,
  { id, invocation, keyed }: Reservation,
  ask: () => Promise<Outcome>,
): Promise<Outcome | null> {
  const startMs = performance.now()
  let outcome: Outcome | null = null
  try {
    outcome = await ask()
    const { kind } = outcome
    metrics.closed(kind, performance.now() - startMs)
    if (kind === 'fenced' || kind === 'unknown') log.warn({ reservation: id, kind }, 'settlement charged nothing')
    if (kind === 'quarantined') log.error({ reservation: id }, 'end of a call quarantined by the ledger')
  } catch (error) {
    metrics.closed('lost')
    log.error({ err: error, reservation: id }, 'reservation not closed, the ledger will release it')
  }
  if (keyed) notifier.notify(invocation) // H3
  return outcome
}

/** A larger response is charged but not saved; a repeat under its key is refused for that reason. */
function isSmallEnough(answer: SettleItem['answer']): boolean {
  return answer !== null && Buffer.byteLength(answer.body) <= idempotencyKeyLimits.savedAnswerBytes
}
