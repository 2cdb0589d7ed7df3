import type { CallReference, Route } from './chat-port.ts'
import { longestCallMs } from './provider-config.ts'
import type { ProviderAdapter } from './provider-adapter.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { TimingLog } from './timing-log.ts'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'

/** A provider and its health. */
export interface OpenProvider {
  adapter: ProviderAdapter
  circuit: Circuit
  /** Maximum tries per call. */
  tries: number
}

interface Deps {
  opened: ReadonlyMap<string, OpenProvider>
  /** Called with every failed attempt, and the call that it was of. */
  attemptFailed: (failure: ProviderFailure, reference: CallReference | undefined) => void
  observe: (event: ProviderEvent) => void
  /** From 0 to 1. */
  random: () => number
  nowMs: () => number
  wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * What happened to a call at a route.
 * - `answered`: the provider returned a response, or the first chunk of one
 * - `failed`: it returned none, or one that broke off after it had `answered`
 * - `fell_back`: another provider answered the call after this route failed or was skipped
 */
export type ProviderEvent = { route: Route; reference: CallReference } & (
  | {
      kind: 'answered'
      /** From sending the call to its first chunk, or to the end of a response without. */ latencyMs: number
    }
  | { kind: 'failed'; failure: ProviderFailure; afterAnswer: boolean; project: string }
  | { kind: 'fell_back' }
)

/** Call to pass to the routes. */
interface Call {
  /** In order of preference. */
  routes: readonly Route[]
  reference?: CallReference | undefined
  project: string
  signal?: AbortSignal | undefined
  timing?: TimingLog | undefined
}

interface Attempt {
  route: Route
  /** Time left for the call. */
  leftMs: number
  /** Must be called once when a streamed response ends, with null if it is complete. */
  ended: (failure: ProviderFailure | null) => void
  connected: () => void
}

/** Calls one provider. Rejects with a `ProviderFailure`, or with an error that ends the call for all providers. */
type Ask<Answer extends { kind: string }> = (adapter: ProviderAdapter, attempt: Attempt) => Promise<Answer>

interface Turn {
  route: Route
  /** Tries so far. */
  tries: number
  /** Earliest time of the next try. */
  fromMs: number
}

/**
 * Tries the routes of a call in turn. The next provider is tried at once; a tried one moves to the end of the queue,
 * with the earliest time of its next try.
 */
export async function tryRoutes<Answer extends { kind: string }>(
  deps: Deps,
  call: Call,
  ask: Ask<Answer>,
): Promise<Answer> {
  const { nowMs } = deps
  const endMs = nowMs() + longestCallMs
  const turns: Turn[] = call.routes.map((route) => ({ route, tries: 0, fromMs: 0 }))
  const failed: Route[] = []
  let reported: ProviderFailure | null = null
  for (let turn = turns.shift(); turn; turn = turns.shift()) {
    await waitUntil(deps, turn.fromMs, call.signal)
    const leftMs = endMs - nowMs()
    if (leftMs <= 0) break
    try {
      const answer = await attempt(deps, call, turn.route, leftMs, ask)
      observeFallbacks(deps, call, failed, turn.route)
      return answer
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      if (error.asked || error.kind !== 'refused') failed.push(turn.route) // not if its wire format can't express the call
      reported = reported === null || saysMore(error, reported) ? error : reported
      if (!error.retryable) break
      const again = nextTurn(deps, turn, error)
      if (again && again.fromMs < endMs) turns.push(again)
    }
  }
  throw reported ?? notConfigured('(none)')
}

/** Each provider that failed the call counts once, if another one answered it. */
function observeFallbacks({ observe }: Deps, { reference }: Call, failed: readonly Route[], answered: Route): void {
  if (reference === undefined) return
  const byProvider = new Map(failed.map((route) => [route.provider, route]))
  byProvider.delete(answered.provider)
  for (const route of byProvider.values()) observe({ kind: 'fell_back', route, reference })
}

async function attempt<Answer extends { kind: string }>(
  { opened, attemptFailed, observe, nowMs }: Deps,
  { reference, project, timing }: Call,
  route: Route,
  leftMs: number,
  ask: Ask<Answer>,
): Promise<Answer> {
  const ended = timing?.begin(route.provider)
  const provider = opened.get(route.provider)
  if (!provider) {
    const failure = notConfigured(route.provider)
    ended?.(failure.kind)
    attemptFailed(failure, reference)
    throw failure
  }
  const { adapter, circuit } = provider
  if (!circuit.admits()) {
    ended?.('circuit_open')
    throw circuitOpen(route.provider, circuit.retryAfterMs())
  }
  let sentMs = nowMs()
  let hasAnswered = false
  function failed(failure: ProviderFailure): void {
    ended?.(failure.kind)
    circuit.failed(failure)
    if (failure.kind === 'busy') return
    attemptFailed(failure, reference)
    if (reference && failure.asked)
      observe({ kind: 'failed', route, reference, failure, afterAnswer: hasAnswered, project })
  }
  function completed(): void {
    ended?.('answered')
    circuit.completed()
  }
  function streamEnded(failure: ProviderFailure | null): void {
    if (failure) return failed(failure)
    timing?.firstToken() // a short stream ends before its first chunk is passed on
    completed()
  }
  try {
    const answer = await ask(adapter, {
      route,
      leftMs,
      ended: streamEnded,
      connected: () => void (sentMs = nowMs()),
    })
    hasAnswered = true
    if (reference) observe({ kind: 'answered', route, reference, latencyMs: nowMs() - sentMs })
    circuit.answered()
    if (answer.kind === 'stream') timing?.firstToken()
    else completed()
    return answer
  } catch (error) {
    if (error instanceof ProviderFailure) failed(error)
    else ended?.('stopped')
    throw error
  }
}

function nextTurn({ opened, random, nowMs }: Deps, { route, tries }: Turn, failure: ProviderFailure): Turn | null {
  const asked = tries + 1
  if (asked >= (opened.get(route.provider)?.tries ?? 1)) return null
  const delayMs = retryDelayMs(failure, asked, random)
  return delayMs === null ? null : { route, tries: asked, fromMs: nowMs() + delayMs }
}

async function waitUntil({ nowMs, wait }: Deps, moment: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = moment - nowMs()
  if (ms <= 0) return
  try {
    await wait(ms, signal)
  } catch (error) {
    throw signal?.aborted ? signal.reason : error
  }
}

/**
 * Whether the later failure tells the caller more than the earlier one. The failure of a called provider says more than
 * an open circuit or a lack of connections, which soon end, and that says more than a wire format that can't express
 * the call.
 */
function saysMore(later: ProviderFailure, earlier: ProviderFailure): boolean {
  return weight(later) >= weight(earlier)
}

function weight({ asked, kind }: ProviderFailure): number {
  if (asked) return 2
  return kind === 'refused' ? 0 : 1
}

function notConfigured(provider: string): ProviderFailure {
  return new ProviderFailure({
    kind: 'unreachable',
    provider,
    detail: 'no provider of that name is configured',
    asked: false,
  })
}

function circuitOpen(provider: string, retryAfterMs: number): ProviderFailure {
  const detail = 'it failed so often that its circuit is open'
  return new ProviderFailure({ kind: 'circuit_open', provider, detail, retryAfterMs, asked: false })
}

export type CircuitState = 'closed' | 'open' | 'half-open'

/** A circuit breaker, which decides whether a provider is called at all. */
export interface Circuit {
  /** Whether a call may go to the provider now. */
  admits(): boolean
  /** `closed` also if no call came for a while (C5). */
  state(): CircuitState
  /** Milliseconds until a call may go; 0 if it may now. */
  retryAfterMs(): number
  /** The provider has started to respond. */
  answered(): void
  /** A response is complete. */
  completed(): void
  failed(failure: ProviderFailure): void
}

export interface CircuitOptions {
  /** Number of failures without a complete response in between that opens the circuit. */
  failures: number
  /** How long the circuit stays open, and the interval between probes while none gets a response. */
  openMs: number
  changed: (state: CircuitState) => void
  /** Monotonic milliseconds. */
  nowMs: () => number
}

/** How long a circuit that is not closed counts as such without calls. Shorter than the alert about it waits. */
export const QUIET_MS = 180_000

/**
 * A circuit breaker for one provider.
 *   C1  Only failures that indicate an unhealthy provider count. Being busy (429), rejecting a request, forbidding a
 *       model (403) or answering with more than its product allows doesn't.
 *   C2  A stream counts twice: its start closes the circuit, and its end is a success or a separate failure.
 *   C3  While the circuit is half-open, one call per `openMs` is a probe. No call waits for it, because a response may
 *       take minutes to start. A probe whose caller disconnects decides nothing.
 *   C4  A call from before the opening counts when it ends: a response closes the circuit; a failure adds no
 *       information and at most delays the next probe.
 *   C5  Without calls for `QUIET_MS` nothing is kept from the provider, so the circuit counts as closed. The next call is
 *       still a probe.
 * Handwritten: cockatiel's breaker has one outcome per call where a stream has two (C2), makes calls wait for the
 * probe, counts a call aborted by its caller as a success (C3), and has its own clock.
 */
export function openCircuit({ failures: maxFailures, openMs, changed, nowMs }: CircuitOptions): Circuit {
  let state: CircuitState = 'closed'
  let failures = 0
  let nextProbeMs = 0
  let quietFromMs = 0

  function needed(): void {
    quietFromMs = Math.max(nextProbeMs, nowMs() + QUIET_MS)
  }

  function become(next: CircuitState): void {
    if (state === next) return
    state = next
    changed(next)
  }

  function answered(): void {
    if (state === 'closed') return
    failures = 0
    become('closed')
  }

  return {
    admits() {
      if (state === 'closed') return true
      const isProbe = nowMs() >= nextProbeMs
      if (isProbe) nextProbeMs = nowMs() + openMs // C3
      needed()
      if (!isProbe) return false
      become('half-open')
      return true
    },
    state: () => (nowMs() < quietFromMs ? state : 'closed'), // C5
    retryAfterMs: () => (state === 'closed' ? 0 : Math.max(0, nextProbeMs - nowMs())),
    answered,
    completed() {
      failures = 0
    },
    failed(failure) {
      if (!isUnwell(failure)) return isAlive(failure) ? answered() : undefined
      if (state === 'open') return // C4
      if (state === 'closed' && ++failures < maxFailures) return
      nextProbeMs = nowMs() + openMs
      needed()
      become('open')
    },
  }
}

/** C1 */
function isUnwell({ kind, asked, providerStatus, limitBytes }: ProviderFailure): boolean {
  if (!asked || limitBytes !== undefined) return false
  return kind !== 'refused' || providerStatus === undefined || providerStatus >= 500 || ourAccount.has(providerStatus)
}

/** Statuses with which a provider refuses our account, regardless of the request. A 403 may concern only one model. */
const ourAccount = new Set([401, 402])

function isAlive({ kind, asked, limitBytes }: ProviderFailure): boolean {
  return asked && (kind === 'refused' || limitBytes !== undefined)
}

/** We don't wait for a longer `Retry-After`: the caller can use the time better. */
const longestRetryAfterMs = 10_000

const BACK_OFF: BackOffLimits = { firstMs: 250, maxMs: Infinity }

/** Transient statuses, worth a retry at the same provider. */
const passing = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

/** Error codes that are permanent despite a transient status. */
const lasting = new Set(['insufficient_quota', 'billing_error'])

/**
 * Returns the delay before a retry at the same provider in milliseconds, or null if it isn't worth it: its
 * `Retry-After` plus a doubling back-off. Half of the back-off is random, so that callers don't retry in lockstep.
 * `tries`: tries so far. `random`: from 0 to 1.
 */
export function retryDelayMs(failure: ProviderFailure, tries: number, random: () => number): number | null {
  const { retryAfterMs = 0 } = failure
  if (!isPassing(failure) || retryAfterMs > longestRetryAfterMs) return null
  return retryAfterMs + backOffMs(tries, BACK_OFF) * (0.5 + random() / 2)
}

/** A timeout or a malformed response would most likely recur, so neither is transient. */
function isPassing({ kind, asked, providerStatus, providerCode }: ProviderFailure): boolean {
  if (!asked) return false
  if (kind !== 'refused') return kind === 'cut' || kind === 'unreachable'
  return providerStatus === undefined || (passing.has(providerStatus) && !lasting.has(providerCode ?? ''))
}

const longestMs = 3_600_000

/**
 * Reads `retry-after-ms` or `Retry-After` (seconds or an HTTP date). Returns milliseconds, at most an hour.
 * `nowMs` is the wall clock.
 */
export function retryAfterMs(
  headers: Record<string, string | string[] | undefined>,
  nowMs: number,
): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (exact >= 0) return Math.min(exact, longestMs)
  const given = headers['retry-after']
  if (typeof given !== 'string' || given === '') return undefined
  const seconds = Number(given)
  const waitMs = Number.isNaN(seconds) ? Date.parse(given) - nowMs : seconds * 1_000
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), longestMs)
}
