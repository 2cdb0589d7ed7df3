import type { ProviderFailure } from './provider-failure.ts'

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
  /** So many failures without a complete answer between them open the circuit. */
  failures: number
  /** How long nobody asks then; and how long until the next one may ask while there is still no answer. */
  openMs: number
  changed: (state: CircuitState) => void
  /** Milliseconds on any clock that only goes forward. */
  nowMs: () => number
}

/**
 * A circuit breaker for one provider.
 *   C1  Only what says that the provider is unwell counts. That it is busy (429), or finds a request wrong, doesn't.
 *   C2  A stream counts twice: that it began closes the circuit, and how it ended is a success or a failure of its own.
 *   C3  While the circuit is half-open one call each `openMs` is a probe, and nobody waits for it: an answer may take
 *       minutes to begin. A probe whose caller leaves decides nothing.
 *   C4  A call from before the opening counts when it ends: an answer closes the circuit; a failure says nothing new
 *       and at most puts the next probe off.
 * Made by hand: cockatiel's breaker knows one end of a call where a stream has two (C2), lets calls wait for the probe,
 * counts a call that its caller ended as a success (C3), and has a clock of its own.
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

/** Statuses by which a provider turns us away whatever we ask. */
const ourAccount = new Set([401, 402, 403])

function isAlive({ kind, asked }: ProviderFailure): boolean {
  return asked && kind === 'refused'
}
