import { TimedOut, withTimeout } from '../async/waiting.ts'

export interface HealthAnswer {
  status: 200 | 503
  body: { status: string; reasons?: Record<string, string> }
}

/** Answers null when all is well, otherwise the reason why not, in a few words without addresses or secrets. */
export type HealthCheck = () => Promise<string | null> | string | null

export interface Readiness {
  /** Adds a named check that every readiness answer asks. */
  check(name: string, check: HealthCheck): void
  /** Adds a named check that every liveness answer asks. It may fail only for what a new process would mend. */
  checkLive(name: string, check: HealthCheck): void
  /** From now on the checks decide. */
  started(): void
  /** From now on the answer is no, so that nothing new is sent here. */
  stopping(): void
  /**
   * GET /health/live: this process works at all. Failures elsewhere never restart it; its own work that stands
   * still for longer than every time limit allows does, because it would stand still forever.
   */
  live(): Promise<HealthAnswer>
  /** GET /health/ready: this process can do its work now. */
  ready(): Promise<HealthAnswer>
}

/** `checkLimitMs` is how long one check may take before it counts as failed. */
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
