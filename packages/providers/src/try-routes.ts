import type { Route } from './chat-port.ts'
import type { Circuit } from './circuit.ts'
import { longestCallMs } from './provider-config.ts'
import type { ProviderAdapter } from './provider-adapter.ts'
import { ProviderFailure } from './provider-failure.ts'
import { retryDelayMs } from './retry-delay.ts'

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

/** Asks one provider. Rejects with a `ProviderFailure`, or with what ends the call whoever is asked. */
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
