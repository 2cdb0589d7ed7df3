import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { idOfRequest, type InvocationId } from '@gateway/api/ids'
import type { ChatRequest } from '@gateway/api/chat-request'
import { refuse, type Refusal } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { type Exceeded, type Place, tooOften } from '../rates/rates.ts'
import type { AdmissionQueueLimit } from './limits.ts'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import { ADMISSION_MS, openAdmission } from '@gateway/ledger-client/instance'
import type { ExactCount } from '@gateway/tokens/exact-count'
import type { Deps } from '../deps.ts'
import type { ChatCall } from '../request/read-chat.ts'
import { storable } from '../request/read-headers.ts'
import { noteOnCall } from '../tracing.ts'
import type { Admission, Caller, Running } from './admission.ts'

// Admission of a call before its provider is called. The ledger decides; the gateway adds:
//   A1  Nothing is asked for a caller that has already disconnected.
//   A2  A prompt that would be refused by its byte count alone is counted exactly, and the ledger is asked again. A
//       prompt that can't be counted in time is refused as `overloaded`, because it is unknown whether it fits. Waiting
//       for a count takes no place in the admission queue.
//   A3  Calls over the operator's rate limit, or with images that the model can't take, are refused here. The ledger is
//       still asked, without an instance: it makes every decision that precedes money and reserves nothing, so that its
//       refusals come first.
//   A4  A call that waits for a running one asks under a new ID each time. If a connection is cut, the ID it asked under
//       is released, and is never admitted after that.

type Needed = Pick<
  Deps,
  | 'ledger'
  | 'instance'
  | 'newId'
  | 'countExactly'
  | 'rates'
  | 'admissionQueueLimit'
  | 'runningCalls'
  | 'metrics'
  | 'monotonicNow'
>

/** What an admission needs to know of a call. */
export interface AdmissionRequest extends Pick<ChatCall, 'keyHash' | 'selector' | 'tag' | 'idempotency'> {
  /** Kind of the product. Default: `chat`. */
  kind?: 'embedding'
  request: Pick<ChatRequest, 'model' | 'maxTokens' | 'conditional' | 'promptSize' | 'forwarded'> & {
    /** Tokens of the prompt, if the caller sent tokens. */
    tokens?: number | null
  }
}

/**
 * Asks the ledger to admit a call: one request that decides everything (architecture §2.1). While the first call under
 * the same idempotency key is running, this one joins it.
 * @param attachmentError why the model can't take the images of the call; thrown only if no check before money refuses it
 * @throws Refusal as the ledger decided, `rate_limited`, `overloaded` or `idempotency_in_progress`
 * @throws LedgerUnavailable
 * @throws ClientDisconnected
 */
export async function admitCall(
  deps: Needed,
  chat: AdmissionRequest,
  caller: Caller,
  attachmentError: Refusal | null = null,
): Promise<Admission> {
  deps.admissionQueueLimit.refuseIfFull()
  const ask = (id: InvocationId, waiting: AdmissionQueueLimit['during']) =>
    askLedger(deps, chat, id, caller.disconnected, attachmentError, waiting)
  const first = await ask(idOfRequest('inv', caller.requestId), deps.admissionQueueLimit.during)
  const askAgain = () => ask(deps.newId('inv'), (work) => work()) // A4
  const admission =
    first.kind === 'running' ? await deps.runningCalls.join(first, askerOf(chat), askAgain, caller.disconnected) : first
  noteOnCall({
    'service.invocation': admission.invocation,
    'gen_ai.request.model': chat.request.model,
    ...(admission.kind === 'admitted' ? { 'service.project': admission.project } : { 'service.replayed': true }),
  })
  return admission
}

/** Callers with the same value get the same admission result. */
function askerOf({ keyHash, selector, tag, idempotency }: AdmissionRequest): string {
  return JSON.stringify([keyHash, selector, tag, idempotency?.fingerprint])
}

/** @param waiting counts the request to the ledger toward the admission queue limit */
async function askLedger(
  deps: Needed,
  chat: AdmissionRequest,
  id: InvocationId,
  disconnected: AbortSignal,
  attachmentError: Refusal | null,
  waiting: AdmissionQueueLimit['during'],
): Promise<Admission | Running> {
  const { promptSize, tokens = null, maxTokens } = chat.request
  const place = await deps.rates.take(chat.keyHash, deps.newId('inv'), {
    bytes: promptSize.bytes,
    tokens,
    maxTokens: maxTokens ?? 0,
  })
  try {
    const admission = await askWithin(deps, chat, id, disconnected, attachmentError, waiting, place)
    if (admission.kind !== 'admitted' && 'undo' in place) place.undo()
    return admission
  } catch (error) {
    if ('undo' in place) place.undo()
    throw error
  }
}

/** @param place of the call within its rate limits, or the limit that it exceeds */
async function askWithin(
  deps: Needed,
  chat: AdmissionRequest,
  id: InvocationId,
  disconnected: AbortSignal,
  attachmentError: Refusal | null,
  waiting: AdmissionQueueLimit['during'],
  place: Place | Exceeded,
): Promise<Admission | Running> {
  const refusedHere = attachmentError ?? ('exceeded' in place ? tooOften(place) : null) // A3
  const mayReserve = refusedHere === null
  const admit = openAdmission<AdmitOutcome>({
    ask: (counted) => {
      if (disconnected.aborted) throw new ClientDisconnected() // A1
      return waiting(() => decide(deps, itemOf(chat, counted), id, mayReserve))
    },
    count: (refused) => countPrompt(deps, chat, refused), // A2
  })
  const outcome = await admit()
  if (outcome.kind === 'uncounted') throw refuse('overloaded', {}) // A2
  switch (outcome.kind) {
    case 'admitted':
      return { ...outcome, reservation: id, place: place as Place }
    case 'replay':
    case 'running':
      return outcome
    case 'refused':
      throw refusalFor(outcome, 'chat')
    case 'would-admit':
      throw refusedHere ?? new Error('the ledger reserved nothing for a call that may be admitted') // A3
    case 'instance-unknown':
      throw new LedgerUnavailable({ why: 'unavailable' })
  }
}

async function countPrompt(
  { countExactly, metrics, monotonicNow }: Needed,
  { keyHash, request }: AdmissionRequest,
  refused: Extract<AdmitOutcome, { kind: 'refused' }>,
): Promise<ExactCount> {
  const startMs = monotonicNow()
  const count = await countExactly({ payer: keyHash, request }, refused)
  if (count.kind !== 'stands') metrics.promptCounted(count.kind, monotonicNow() - startMs)
  return count
}

async function decide(
  { ledger, instance }: Needed,
  item: Omit<AdmitItem, 'op' | 'id' | 'instance'>,
  id: string,
  mayReserve: boolean,
): Promise<AdmitOutcome> {
  const ask = () =>
    ledger.admit({ ...item, id, instance: mayReserve ? instance.id() : null }, { budgetMs: ADMISSION_MS })
  const outcome = await ask()
  if (outcome.kind !== 'instance-unknown') return outcome
  await instance.renew()
  return ask()
}

function itemOf(
  { keyHash, selector, tag, request, idempotency, kind }: AdmissionRequest,
  counted: number | null,
): Omit<AdmitItem, 'op' | 'id' | 'instance'> {
  return {
    keyHash,
    selector,
    tag,
    model: storable(request.model),
    ...(kind && { kind }),
    parameters: request.conditional,
    promptSize: { ...request.promptSize, counted: counted ?? request.tokens ?? null, maxTokens: request.maxTokens },
    idempotency,
  }
}
