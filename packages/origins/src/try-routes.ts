import type { Route } from './chat-port.ts'
import type { Circuit } from './circuit.ts'
import { longestCallMs } from './origin-config.ts'
import type { OriginAdapter } from './origin-adapter.ts'
import { OriginFailure } from './origin-failure.ts'
import { retryDelayMs } from './retry-delay.ts'

/** An origin and what is known of its health. */
export interface OpenOrigin {
  adapter: OriginAdapter
  circuit: Circuit
  /** How often one call may ask it. */
  tries: number
}

interface Needs {
  opened: ReadonlyMap<string, OpenOrigin>
  attemptFailed: (failure: OriginFailure) => void
  /** From 0 to 1. */
  random: () => number
  nowMs: () => number
  wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** What is to be brought to one of the routes. */
interface Call {
  /** In order of preference. */
  routes: readonly Route[]
  signal?: AbortSignal | undefined
}

interface Attempt {
  route: Route
  /** How much of the call's time is left. */
  leftMs: number
  /** To be told once how an answer that had only begun has ended: null if it is complete. */
  ended: (failure: OriginFailure | null) => void
}

/** Asks one origin. Rejects with an `OriginFailure`, or with what ends the call whoever is asked. */
type Ask<Answer extends { kind: string }> = (adapter: OriginAdapter, attempt: Attempt) => Promise<Answer>

interface Turn {
  route: Route
  /** How often it was asked before. */
  tries: number
  /** Not before this moment. */
  fromMs: number
}

/**
 * Gives a call to its routes in turn. Another origin is asked at once; one that was asked before goes to the end of the
 * queue, with the moment from which it is worth asking again.
 */
export function routeTrier({ opened, attemptFailed, random, nowMs, wait }: Needs) {
  return async <Answer extends { kind: string }>(call: Call, ask: Ask<Answer>): Promise<Answer> => {
    const endMs = nowMs() + longestCallMs
    const turns: Turn[] = call.routes.map((route) => ({ route, tries: 0, fromMs: 0 }))
    let told: OriginFailure | null = null
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      await waitUntil(turn.fromMs, call.signal)
      const leftMs = endMs - nowMs()
      if (leftMs <= 0) break
      try {
        return await askAt(turn.route, leftMs, ask)
      } catch (error) {
        if (!(error instanceof OriginFailure)) throw error
        told = told === null || saysMore(error, told) ? error : told
        if (!error.retryable) break
        const again = nextTurn(turn, error)
        if (again && again.fromMs < endMs) turns.push(again)
      }
    }
    throw told ?? notConfigured('(none)')
  }

  async function askAt<Answer extends { kind: string }>(route: Route, leftMs: number, ask: Ask<Answer>) {
    const origin = opened.get(route.origin)
    if (!origin) throw told(notConfigured(route.origin))
    const { adapter, circuit } = origin
    if (!circuit.admits()) throw resting(route.origin, circuit.restMs())
    function failed(failure: OriginFailure): OriginFailure {
      circuit.failed(failure)
      return told(failure)
    }
    function ended(failure: OriginFailure | null): void {
      if (failure) failed(failure)
      else circuit.completed()
    }
    try {
      const answer = await ask(adapter, { route, leftMs, ended })
      circuit.answered()
      if (answer.kind !== 'stream') circuit.completed()
      return answer
    } catch (error) {
      throw error instanceof OriginFailure ? failed(error) : error
    }
  }

  function told(failure: OriginFailure): OriginFailure {
    attemptFailed(failure)
    return failure
  }

  function nextTurn({ route, tries }: Turn, failure: OriginFailure): Turn | null {
    const asked = tries + 1
    if (asked >= (opened.get(route.origin)?.tries ?? 1)) return null
    const delayMs = retryDelayMs(failure, asked, random)
    return delayMs === null ? null : { route, tries: asked, fromMs: nowMs() + delayMs }
  }

  async function waitUntil(moment: number, signal: AbortSignal | undefined): Promise<void> {
    const ms = moment - nowMs()
    if (ms <= 0) return
    try {
      await wait(ms, signal)
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  }
}

/**
 * Whether the later failure tells the caller more than the earlier one: what an asked origin came to says more than that
 * one rests, which a moment clears, and that more than that one has no words for the call.
 */
function saysMore(later: OriginFailure, earlier: OriginFailure): boolean {
  return weight(later) >= weight(earlier)
}

function weight({ asked, kind }: OriginFailure): number {
  if (asked) return 2
  return kind === 'refused' ? 0 : 1
}

function notConfigured(origin: string): OriginFailure {
  return new OriginFailure({
    kind: 'unreachable',
    origin,
    detail: 'no origin of that name is configured',
    asked: false,
  })
}

function resting(origin: string, retryAfterMs: number): OriginFailure {
  const detail = 'it failed so often that it rests'
  return new OriginFailure({ kind: 'resting', origin, detail, retryAfterMs, asked: false })
}
