import type { IncomingMessage } from 'node:http'
import { SpanKind } from '@opentelemetry/api'
import type { Request, RequestHandler, Response } from 'express'
import { type EmbeddingRequest, readEmbeddingRequest } from '@gateway/api/embeddings'
import { Refusal } from '@gateway/api/refusal'
import { chatLimits } from '@gateway/api/limits'
import { answerAttributes, callAttributes } from '@gateway/providers/call-attributes'
import { type EmbeddingAnswer, maxEmbeddingBytes } from '@gateway/providers/provider-adapter'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { flushWithin, sendJson } from '@gateway/service-kit/http/answers'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { withSpan } from '@gateway/service-kit/process/spans'
import type { CountedUsage } from '@gateway/tokens/counted-usage'
import { type AdmissionRequest, admitCall } from '../../admission/admit-call.ts'
import { type AdmittedCall, type Caller, callerOf } from '../../admission/admission.ts'
import { isOpenCircuit, refusalOfEmbedding } from '../../errors/refusal-of-error.ts'
import { withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import {
  settleAndAnswer,
  openReservation,
  reasonOf,
  release,
  type Reservation,
} from '../../provider-call/call-provider.ts'
import {
  fingerprintOf,
  readIdempotencyKey,
  readTag,
  refuseRepeatedHeaders,
  selectorOf,
} from '../../request/read-headers.ts'
import { openRecording, sendReplay } from '../../response/respond.ts'
import { withCallSpan } from '../../tracing.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { type AnswerUsage, wireUsage } from '@gateway/api/chat-answer'

// The response of a provider and our own are in memory whole, so a large call takes a share of the memory of images
// and files (packages/service-kit/src/async/byte-budget.ts).
//   V1  The share is taken before the provider is called, and released with the permit of the call.
//   V2  It is at most the whole budget, which any single call may take: large calls take turns.
//   V3  A small call takes none: up to the size of a chat without images.
//   V4  A client has READ_MS to read a response that holds a share.

/** POST /v1/embeddings: read, admit, call, settle, respond, like a chat call without a completion. */
export function createEmbeddings(deps: Deps): RequestHandler {
  return (req, res) =>
    withPermit(deps, res, (keyHash, permit) => {
      deps.admissionQueueLimit.refuseIfFull()
      const caller = { ...callerOf(res), permit }
      return deps.openCalls.run(() =>
        withCallSpan('POST /v1/embeddings', res, () =>
          complete(deps, req, res, keyHash, caller).catch((error: unknown) => {
            throw reworded(error)
          }),
        ),
      )
    })
}

/** Only refusals of models are reworded: a bug is still logged with its stack, and an open circuit counted as one. */
function reworded(error: unknown): unknown {
  if (isOpenCircuit(error)) return error
  return error instanceof ProviderFailure || error instanceof Refusal ? refusalOfEmbedding(error) : error
}

interface EmbeddingCall {
  request: EmbeddingRequest
  admission: AdmissionRequest
}

async function complete(deps: Deps, req: Request, res: Response, keyHash: string, caller: Caller): Promise<void> {
  const { metrics, now } = deps
  const startMs = now()
  const { request, admission: asked } = await readCall(req, keyHash)
  deps.refusals.nameModel(res, request.model)
  const admission = await withSpan('admit', {}, () => admitCall(deps, asked, caller))
  res.setHeader('X-Service-Invocation', admission.invocation)
  if (admission.kind === 'replay') {
    await sendReplay(res, admission)
    return metrics.answered('replay', now() - startMs)
  }
  for (const [name, value] of Object.entries(admission.place.headers)) res.setHeader(name, value)
  const reservation = openReservation(admission, asked.idempotency !== null)
  try {
    const holdsShare = await takeMemory(deps, request, admission.project, caller)
    const callMs = now()
    const answer = await callProvider(deps, request, admission, caller, reservation)
    const providerMs = now() - callMs
    const body = await settleCall(deps, request, admission, reservation, answer)
    sendJson(res, 200, body)
    if (holdsShare) flushWithin(res, READ_MS) // V4
    metrics.answered('json', now() - startMs, providerMs)
  } catch (error) {
    await release(deps, reservation, reasonOf(error))
    throw error
  }
}

/** @throws Refusal 400 or 413; ClientDisconnected */
async function readCall(req: IncomingMessage, keyHash: string): Promise<EmbeddingCall> {
  refuseRepeatedHeaders(req)
  const key = readIdempotencyKey(req)
  const value = parseJson(await readBody(req, chatLimits.textBodyBytes))
  const request = readEmbeddingRequest(value)
  const { model, inputs, tokens, promptSize, dimensions, projectId } = request
  const texts = inputs.kind === 'texts' ? inputs.texts : []
  return {
    request,
    admission: {
      kind: 'embedding',
      keyHash,
      selector: selectorOf(req, projectId),
      tag: readTag(req),
      request: {
        model,
        maxTokens: null,
        conditional: dimensions === null ? [] : ['dimensions'],
        promptSize,
        tokens,
        forwarded: { messages: texts.map((content) => ({ role: 'user', content })) },
      },
      idempotency: key === null ? null : { key, fingerprint: fingerprintOf(value as object, undefined, 'embeddings') },
    },
  }
}

/**
 * Returns whether the call holds a share.
 * @throws Refusal `overloaded`; ClientDisconnected
 */
async function takeMemory(
  { embeddingMemory }: Pick<Deps, 'embeddingMemory'>,
  request: EmbeddingRequest,
  project: string,
  { permit, disconnected }: Caller,
): Promise<boolean> {
  const bytes = Math.min(memoryOf(request), embeddingMemory.maxBytes) // V2
  if (bytes <= chatLimits.textBodyBytes) return false // V3
  permit.onRelease(await embeddingMemory.take(project, bytes, disconnected)) // V1
  return true
}

/** V4 */
const READ_MS = 120_000

/** Length of the vectors of a model that is not asked for one. Longer ones are rare. */
const USUAL_DIMENSIONS = 3_072

/** Most numbers of a provider's response, as base64 of 32-bit floats. */
const MOST_NUMBERS = Math.ceil((maxEmbeddingBytes * 3) / 4 / 4)

/** Bytes of the budget per number: a fifth of the memory that it takes, as for images. Measured: 109 and 49 bytes. */
const BYTES_PER_NUMBER = { float: 22, base64: 10 }

/** Returns the share of a call in bytes. */
function memoryOf({ format, promptSize, dimensions }: EmbeddingRequest): number {
  const numbers = promptSize.messages * (dimensions ?? USUAL_DIMENSIONS)
  return Math.min(numbers, MOST_NUMBERS) * BYTES_PER_NUMBER[format]
}

/** @throws ProviderFailure, ProcessStopping, ClientDisconnected */
function callProvider(
  { providers, openCalls }: Pick<Deps, 'providers' | 'openCalls'>,
  { model, inputs, dimensions }: EmbeddingRequest,
  { routes, project, invocation }: AdmittedCall,
  { disconnected }: Caller,
  { timing }: Reservation,
): Promise<EmbeddingAnswer> {
  const facts = { operation: 'embeddings' as const, product: model, invocation, maxTokens: null }
  const attributes = { ...callAttributes(facts), 'service.project': project }
  return withSpan(`embeddings ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const answer = await providers.embed({
      routes,
      reference: { product: model, invocation },
      project,
      inputs,
      dimensions,
      signal: openCalls.cancellation,
      disconnected,
      timing,
    })
    const usage = answer.promptTokens === null ? null : { promptTokens: answer.promptTokens, completionTokens: 0 }
    span.setAttributes(answerAttributes({ product: model, invocation, usage, finishReasons: [] }))
    return answer
  })
}

/** Charges the call and returns the response. */
async function settleCall(
  deps: Deps,
  request: EmbeddingRequest,
  admitted: AdmittedCall,
  reservation: Reservation,
  { vectors, promptTokens, route }: EmbeddingAnswer,
): Promise<string> {
  const usage = promptTokens
    ? { promptTokens, completionTokens: 0, estimated: false }
    : await ownCount(deps, request, admitted.project, route.provider)
  const data = await writeVectors(request.format, vectors)
  return settleAndAnswer(
    deps,
    { admitted, reservation },
    { usage, route },
    {
      write: (chargedMicro) => writeEmbeddings(request.model, data, usage, chargedMicro),
      save(text) {
        const recording = openRecording(reservation.keyed)
        recording.add(text)
        return recording.answer('application/json')
      },
    },
  )
}

/** Our own count of the inputs, whose provider reported none. Tokens that the caller sent need no count. */
async function ownCount(
  { countUsage }: Pick<Deps, 'countUsage'>,
  { inputs, tokens, promptSize }: EmbeddingRequest,
  project: string,
  provider: string,
): Promise<CountedUsage> {
  const texts = inputs.kind === 'texts' ? inputs.texts.join('\n') : ''
  const request = { forwarded: { messages: [] }, promptSize: { ...promptSize, messages: 0 } }
  const { completionTokens: counted } = await countUsage(null, { request, project, provider }, () => texts)
  return { promptTokens: tokens ?? counted, completionTokens: 0, estimated: true }
}

/** Written between two turns of the event loop: milliseconds of work. A response can have millions of numbers. */
const NUMBERS_PER_TURN = 32_768

/** Returns the `data` of POST /v1/embeddings as JSON: vectors in the order of the inputs, as numbers or as base64. */
export async function writeVectors(
  format: EmbeddingRequest['format'],
  vectors: readonly Float32Array[],
): Promise<string> {
  const entries: string[] = []
  let written = 0
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'base64' ? base64Of(vector) : Array.from(vector)
    entries.push(JSON.stringify({ object: 'embedding', index, embedding }))
    written += vector.length
    if (written < NUMBERS_PER_TURN) continue
    written = 0
    await turn()
  }
  return `[${entries.join(',')}]`
}

/** Returns the whole answer, given its `data`. */
export function writeEmbeddings(model: string, data: string, usage: AnswerUsage, chargedMicro: number | null): string {
  const { completion_tokens: _none, ...counted } = wireUsage(usage, chargedMicro)
  return `{"object":"list","data":${data},"model":${JSON.stringify(model)},"usage":${JSON.stringify(counted)}}`
}

function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
