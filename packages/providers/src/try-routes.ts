import type { Route } from './chat-port.ts'
import { longestCallMs } from './provider-config.ts'
import type { ProviderAdapter } from './provider-adapter.ts'
import { ProviderFailure } from './provider-failure.ts'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'

/** A provider and what is known of its health. */
export interface OpenProvider {
  adapter: ProviderAdapter
  circuit: Circuit
  /** How often one call may ask it. */
  tries: number
}

interface Deps {
  opened: ReadonlyMap<string, OpenProvider>
  /** Called with every attempt that failed. */
  attemptFailed: (failure: ProviderFailure) => void
  /** From 0 to 1. */
  random: () => number
  nowMs: () => number
  wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** What the routes are asked for. */
interface Call {
  /** In order of preference. */
  routes: readonly Route[]
  signal?: AbortSignal | undefined
}

interface Attempt {
  route: Route
  /** How much of the call's time is left. */
  leftMs: number
  /** To be called once when an answer that had only begun has ended: with null if it is complete. */
  ended: (failure: ProviderFailure | null) => void
}

/** Asks one provider. Rejects with a `ProviderFailure`, or with the error that ends the call regardless of provider. */
type Ask<Answer extends { kind: string }> = (adapter: ProviderAdapter, attempt: Attempt) => Promise<Answer>

interface Turn {
  route: Route
  /** How often it was asked before. */
  tries: number
  /** Not before this moment. */
  fromMs: number
}

/**
 * Gives a call to its routes in turn. Another provider is asked at once; one that was asked before goes to the end of the
 * queue, with the moment from which it is worth asking again.
 */
export async function tryRoutes<Answer extends { kind: string }>(
  deps: Deps,
  call: Call,
  ask: Ask<Answer>,
): Promise<Answer> {
  const { nowMs } = deps
  const endMs = nowMs() + longestCallMs
  const turns: Turn[] = call.routes.map((route) => ({ route, tries: 0, fromMs: 0 }))
  let reported: ProviderFailure | null = null
  for (let turn = turns.shift(); turn; turn = turns.shift()) {
    await waitUntil(deps, turn.fromMs, call.signal)
    const leftMs = endMs - nowMs()
    if (leftMs <= 0) break
    try {
      return await attempt(deps, turn.route, leftMs, ask)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      reported = reported === null || saysMore(error, reported) ? error : reported
      if (!error.retryable) break
      const again = nextTurn(deps, turn, error)
      if (again && again.fromMs < endMs) turns.push(again)
    }
  }
  throw reported ?? notConfigured('(none)')
}

async function attempt<Answer extends { kind: string }>(
  { opened, attemptFailed }: Deps,
  route: Route,
  leftMs: number,
  ask: Ask<Answer>,
): Promise<Answer> {
  const provider = opened.get(route.provider)
  if (!provider) {
    const failure = notConfigured(route.provider)
    attemptFailed(failure)
    throw failure
  }
  const { adapter, circuit } = provider
  if (!circuit.admits()) throw circuitOpen(route.provider, circuit.retryAfterMs())
  function failed(failure: ProviderFailure): void {
    circuit.failed(failure)
    attemptFailed(failure)
  }
  function ended(failure: ProviderFailure | null): void {
    if (failure) failed(failure)
    else circuit.completed()
  }
  try {
    const answer = await ask(adapter, { route, leftMs, ended })
    circuit.answered()
    if (answer.kind !== 'stream') circuit.completed()
    return answer
  } catch (error) {
    if (error instanceof ProviderFailure) failed(error)
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
 * Whether the later failure tells the caller more than the earlier one: the failure of a provider that was asked says more than an
 * open circuit, which a moment closes, and that says more than a wire format that lacks a field for the call.
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

/** A circuit breaker: whether a provider is asked at all. */
export interface Circuit {
  /** Whether a call may go to the provider now. */
  admits(): boolean
  /** How long until one may; 0 when it may now. Milliseconds. */
  retryAfterMs(): number
  /** The provider has begun to answer. */
  answered(): void
  /** An answer is complete. */
  completed(): void
  failed(failure: ProviderFailure): void
}

export interface CircuitOptions {
  /** This many failures without a complete answer between them open the circuit. */
  failures: number
  /** How long no one asks then; and how long until the next one may ask while there is still no answer. */
  openMs: number
  changed: (state: CircuitState) => void
  /** Milliseconds on any clock that only goes forward. */
  nowMs: () => number
}

/**
 * A circuit breaker for one provider.
 *   C1  Only what says that the provider is unwell counts. That it is busy (429), or finds a request wrong, doesn't.
 *   C2  A stream counts twice: that it began closes the circuit, and how it ended is a success or its own failure.
 *   C3  While the circuit is half-open one call each `openMs` is a probe, and no one waits for it: an answer may take
 *       minutes to begin. A probe whose caller leaves decides nothing.
 *   C4  A call from before the opening counts when it ends: an answer closes the circuit; a failure says nothing new
 *       and at most puts the next probe off.
 * Made by hand: cockatiel's breaker knows one end of a call where a stream has two (C2), lets calls wait for the probe,
 * counts a call that its caller ended as a success (C3), and has its own clock.
 */
export function openCircuit({ failures: maxFailures, openMs, changed, nowMs }: CircuitOptions): Circuit {
  let state: CircuitState = 'closed'
  let failures = 0
  let nextProbeMs = 0

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
      if (nowMs() < nextProbeMs) return false
      nextProbeMs = nowMs() + openMs // C3
      become('half-open')
      return true
    },
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
      become('open')
    },
  }
}

/** C1 */
function isUnwell({ kind, asked, providerStatus }: ProviderFailure): boolean {
  if (!asked) return false
  return kind !== 'refused' || providerStatus === undefined || providerStatus >= 500 || ourAccount.has(providerStatus)
}

/** Statuses by which a provider turns us away regardless of the request. */
const ourAccount = new Set([401, 402, 403])

function isAlive({ kind, asked }: ProviderFailure): boolean {
  return asked && kind === 'refused'
}

/** A longer `Retry-After` isn't waited for: the caller decides better what to do with the time. */
const longestRetryAfterMs = 10_000

const BACK_OFF: BackOffLimits = { firstMs: 250, maxMs: Infinity }

/** Statuses that the same provider may not answer with a moment later. */
const passing = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

/** Codes under a passing status that no moment clears. */
const lasting = new Set(['insufficient_quota', 'billing_error'])

/**
 * How long to wait before the same provider is asked again, in milliseconds, or null when it isn't worth it: what its
 * `Retry-After` asks for, and a back-off that doubles, of which a random half keeps callers from coming back together.
 * `tries`: how often it was asked. `random`: from 0 to 1.
 */
export function retryDelayMs(failure: ProviderFailure, tries: number, random: () => number): number | null {
  const { retryAfterMs = 0 } = failure
  if (!isPassing(failure) || retryAfterMs > longestRetryAfterMs) return null
  return retryAfterMs + backOffMs(tries, BACK_OFF) * (0.5 + random() / 2)
}

/** A limit that ran out once would mostly run out again, and what came in the wrong form would come in it again. */
function isPassing({ kind, asked, providerStatus, providerCode }: ProviderFailure): boolean {
  if (!asked) return false
  if (kind !== 'refused') return kind === 'cut' || kind === 'unreachable'
  return providerStatus === undefined || (passing.has(providerStatus) && !lasting.has(providerCode ?? ''))
}

const longestMs = 3_600_000

/**
 * What `retry-after-ms` or `Retry-After` (seconds or an HTTP date) asks for, in milliseconds, at most an hour.
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
