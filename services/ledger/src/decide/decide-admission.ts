import type { AdmitItem } from '@gateway/contracts/ledger-items'
import { windowStartMs } from '@gateway/money/spending-window'
import { outputCap, promptTokensBound, upperBoundMicro } from '@gateway/money/upper-bound'
import type { Book, KeyFacts, ProductFacts, Reservation } from './book.ts'

/** What is left of the wallets and meters while a batch is decided (B4). */
export interface Remaining {
  wallet(project: string): bigint
  meter(key: KeyFacts, windowStartMs: number): bigint
}

export type AdmissionDecision =
  | { code: 'admitted'; reservation: Reservation; idempotencyKey: string | null; fingerprint: string | null }
  | { code: 'again'; reservation: Reservation }
  | { code: 'running' | 'replay'; invocation: string }
  | { code: string }

/** Decides one admission, in the order of decisions.md 1. A refused one consumes nothing. */
export function decideAdmission(book: Book, item: AdmitItem, nowMs: number, remaining: Remaining): AdmissionDecision {
  const again = book.open.get(item.id)
  if (again) return { code: 'again', reservation: again }
  if (book.closed.has(item.id)) return { code: 'closed' }

  const key = book.keys.get(item.keyHash)
  const refusal = keyRefusal(key, nowMs)
  if (refusal || !key || key.project === null) return { code: refusal ?? 'key_invalid' }
  const { project } = key
  if (item.selector !== null && item.selector !== project) return { code: 'project_mismatch' }
  const product = book.callable.get(`${project} ${item.model}`)
  if (!product) return { code: 'model_not_found' }
  if (key.policy === 'listed' && !key.resources.has(item.model)) return { code: 'key_scope' }

  const earlier = item.idempotency && book.idempotency.get(`${project} ${item.idempotency.key}`)
  if (earlier) {
    if (earlier.fingerprint !== item.idempotency?.fingerprint) return { code: 'idempotency_mismatch' }
    if (book.open.has(earlier.reservation)) return { code: 'running', invocation: earlier.invocation }
    if (book.closed.get(earlier.reservation)?.state === 'Settled')
      return { code: 'replay', invocation: earlier.invocation }
  }
  const bound = boundOf(item, product)
  if (bound.refusal) return { code: bound.refusal }
  if (!book.liveHolders.has(item.holder)) return { code: 'holder_unknown' }

  const windowStart = key.limit && laterWindow(book, key, windowStartMs(key.limit.reset, nowMs))
  if (windowStart !== null && bound.micro > remaining.meter(key, windowStart)) return { code: 'key_limit' }
  if (bound.micro > remaining.wallet(project)) return { code: 'insufficient_budget' }
  return {
    code: 'admitted',
    idempotencyKey: item.idempotency?.key ?? null,
    fingerprint: item.idempotency?.fingerprint ?? null,
    reservation: {
      id: item.id,
      invocation: earlier?.invocation ?? item.id,
      attempt: earlier ? (book.closed.get(earlier.reservation)?.attempt ?? 0) + 1 : 1,
      project,
      key: key.id,
      lineage: key.lineage,
      windowStartMs: windowStart,
      product: product.id,
      holder: item.holder,
      micro: bound.micro,
      outputCap: bound.cap,
      price: product.price,
    },
  }
}

function keyRefusal(key: KeyFacts | undefined, nowMs: number): string | null {
  if (!key) return 'key_invalid'
  if (key.revoked) return 'key_revoked'
  if (key.rotated && (key.rotated.graceUntilMs === null || key.rotated.graceUntilMs <= nowMs)) return 'key_revoked'
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'key_expired'
  if (key.project === null) return 'key_unbound'
  return key.issuerStands ? null : 'key_issuer_denied'
}

function boundOf(
  { measures, parameters }: AdmitItem,
  product: ProductFacts,
): { refusal: string | null; micro: bigint; cap: bigint } {
  const maxTokens = measures.maxTokens === null ? null : BigInt(measures.maxTokens)
  const cap = outputCap(maxTokens, product.maxOutputTokens)
  const prompt = promptTokensBound(product.overheads, {
    bytes: BigInt(measures.bytes),
    messages: BigInt(measures.messages),
    tools: BigInt(measures.tools),
    images: BigInt(measures.images),
    counted: measures.counted === null ? null : BigInt(measures.counted),
  })
  const refusal = parameters.some((name) => !product.supportedParameters.has(name))
    ? 'unsupported_parameter'
    : measures.images > 0 && product.overheads.maxTokensPerImage === null
      ? 'images_unsupported'
      : (maxTokens ?? 0n) > product.maxOutputTokens || prompt + cap > product.contextLength
        ? 'context_limit'
        : null
  return { refusal, micro: upperBoundMicro(product.price, prompt, cap), cap }
}

/** A clock that went back never opens a window again that has been left (crash matrix 36). */
function laterWindow(book: Book, key: KeyFacts, startMs: number): number {
  return Math.max(startMs, book.meters.get(key.lineage)?.windowStartMs ?? startMs)
}
