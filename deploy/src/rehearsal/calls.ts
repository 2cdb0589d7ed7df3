import { randomUUID } from 'node:crypto'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { projectFolder } from '../render.ts'

const CHAT_EVERY_MS = 150
const FLOW_EVERY_MS = 600
const AGAIN_AFTER_MS = 500
const LOST_AFTER_MS = 90_000

/** What became of the calls that were begun in a time. Times are those to the answer, with all tries. */
export interface Outcome {
  calls: number
  answered: number
  /** Not answered within 90 seconds, however often they were tried. */
  lost: number
  /** How often each refusal or connection error was seen. */
  refusals: Map<string, number>
  slowestChatMs: number
  slowestFlowMs: number
}

/** A caller who makes a call until it is answered: after a broken connection or a passing refusal with the same idempotency key. */
export interface Caller {
  /** @throws Error with the last refusal if it is not answered within 90 seconds */
  call(model: string, seen?: (refusal: string) => void): Promise<void>
}

export function openCaller(base: string, key: string): Caller {
  async function ask(model: string, idempotencyKey: string): Promise<{ isFinal: boolean; refusal: string | null }> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Write about otters.' }] })
    const signal = AbortSignal.timeout(60_000)
    try {
      const answer = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body, signal })
      const { error } = (await answer.json()) as { error?: { code: string } }
      return {
        isFinal: answer.headers.get('x-should-retry') === 'false',
        refusal: answer.ok ? null : `${answer.status} ${error?.code}`,
      }
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } }
      return { isFinal: false, refusal: cause?.code ?? name }
    }
  }
  return {
    async call(model, seen) {
      const lostAt = Date.now() + LOST_AFTER_MS
      let idempotencyKey = randomUUID()
      for (;;) {
        const { isFinal, refusal } = await ask(model, idempotencyKey)
        if (refusal === null) return
        seen?.(refusal)
        if (Date.now() > lostAt) throw new Error(refusal)
        if (isFinal) idempotencyKey = randomUUID() // the former keeps its refusal
        await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      }
    },
  }
}

/** Calls a model and a flow at a steady rate until it is stopped. */
export function callSteadily(caller: Caller, models: { chat: string; flow: string }) {
  const outcome: Outcome = {
    calls: 0,
    answered: 0,
    lost: 0,
    refusals: new Map(),
    slowestChatMs: 0,
    slowestFlowMs: 0,
  }
  const underWay = new Set<Promise<void>>()
  async function one(slowest: 'slowestChatMs' | 'slowestFlowMs', model: string): Promise<void> {
    const begun = Date.now()
    outcome.calls++
    try {
      await caller.call(model, (refusal) => outcome.refusals.set(refusal, (outcome.refusals.get(refusal) ?? 0) + 1))
      outcome.answered++
    } catch {
      outcome.lost++
    }
    outcome[slowest] = Math.max(outcome[slowest], Date.now() - begun)
  }
  function start(...call: Parameters<typeof one>): void {
    const made = one(...call).finally(() => underWay.delete(made))
    underWay.add(made)
  }
  const timers = [
    setInterval(() => start('slowestChatMs', models.chat), CHAT_EVERY_MS),
    setInterval(() => start('slowestFlowMs', models.flow), FLOW_EVERY_MS),
  ]
  return {
    /** Starts no more, and resolves once all are answered or lost. */
    async end(): Promise<Outcome> {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(underWay)
      return outcome
    },
  }
}

const run = promisify(execFile)

/** Runs docker in the project's folder and returns what it printed. @throws Error with the command and its complaint */
export async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { cwd: projectFolder, maxBuffer: 1 << 26 })).stdout.trim()
}

export const compose = (...args: string[]): Promise<string> => docker('compose', '--profile', 'simulated', ...args)

/** IDs of a service's containers. */
export async function containersOf(service: string): Promise<string[]> {
  return (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean)
}

/** Resolves once a container runs and is healthy. @throws Error after two minutes */
export async function whenHealthy(container: string): Promise<void> {
  const begun = Date.now()
  const format = '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}'
  while ((await docker('inspect', '--format', format, container)) !== 'running healthy') {
    if (Date.now() - begun > 120_000) throw new Error(`${container} is not healthy after two minutes.`)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}
