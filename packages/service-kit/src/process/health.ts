import { TimedOut, withTimeout } from '../async/waiting.ts'

export interface HealthAnswer {
  status: 200 | 503
  body: { status: string; reasons?: Record<string, string> }
}

/** Returns null if all is well, otherwise a short reason without addresses or secrets. */
export type HealthCheck = () => Promise<string | null> | string | null

export interface Readiness {
  /** Adds a named check to readiness. */
  check(name: string, check: HealthCheck): void
  /** Adds a named check to liveness. It may fail only for problems that a restart fixes. */
  checkLive(name: string, check: HealthCheck): void
  /** Call after startup: from then on the checks decide. */
  started(): void
  /** Call before shutdown: readiness is false from then on, so that no new requests arrive. */
  stopping(): void
  /**
   * GET /health/live: the process works at all. Failures elsewhere never restart it. Work that stalls for longer than
   * every time limit allows does, because it would never resume.
   */
  live(): Promise<HealthAnswer>
  /** GET /health/ready: the process can do its work now. */
  ready(): Promise<HealthAnswer>
}

/** `checkLimitMs` is the time after which a check counts as failed. */
export function createReadiness({ checkLimitMs = 1_000 }: { checkLimitMs?: number } = {}): Readiness {
  const checks = new Map<string, HealthCheck>()
  const liveChecks = new Map<string, HealthCheck>()
  let phase: 'starting' | 'started' | 'stopping' = 'starting'

  return {
    check: (name, check) => void checks.set(name, check),
    checkLive: (name, check) => void liveChecks.set(name, check),
    started: () => void (phase = phase === 'stopping' ? phase : 'started'),
    stopping: () => void (phase = 'stopping'),
    live: () => answer('live', liveChecks, checkLimitMs),
    async ready() {
      if (phase !== 'started') return { status: 503, body: { status: phase } }
      return answer('ready', checks, checkLimitMs)
    },
  }
}

async function answer(status: string, checks: Map<string, HealthCheck>, limitMs: number): Promise<HealthAnswer> {
  const asked = [...checks].map(async ([name, check]) => [name, await ask(check, limitMs)] as const)
  const failing = (await Promise.all(asked)).filter((one): one is [string, string] => one[1] !== null)
  if (failing.length === 0) return { status: 200, body: { status } }
  return { status: 503, body: { status: `not ${status}`, reasons: Object.fromEntries(failing) } }
}

async function ask(check: HealthCheck, limitMs: number): Promise<string | null> {
  try {
    return await withTimeout(limitMs, check)
  } catch (error) {
    return error instanceof TimedOut ? `no answer within ${limitMs} ms` : 'failed'
  }
}
