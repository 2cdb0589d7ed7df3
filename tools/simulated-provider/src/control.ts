import type { CallFilter, CallLog, LoggedCall } from './call-log.ts'
import { type FaultBook, faultRules, type FaultRule } from './fault-rule.ts'
import type { HeldCalls } from './held-calls.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { readBody } from './read-body.ts'

/** The control of a provider for tests; the same in-process and through `controlClient`. */
export interface ProviderControl {
  /** Replaces all rules. Throws if a rule has an unknown or invalid field. */
  setFaults(rules: FaultRule[]): Promise<void>
  clearFaults(): Promise<void>
  /** The stored calls, oldest first. */
  calls(filter?: CallFilter): Promise<LoggedCall[]>
  countCalls(filter?: CallFilter): Promise<number>
  clearCalls(): Promise<void>
  /**
   * Resolves with the number of matching calls once there are at least `count`. Throws after `timeoutMs` (default
   * 30,000).
   */
  waitForCalls(count: number, filter?: CallFilter, timeoutMs?: number): Promise<number>
  /** Releases held calls (default: all), oldest first; returns how many. */
  release(count?: number): Promise<number>
}

export interface ControlDeps {
  log: CallLog
  faults: FaultBook
  heldCalls: HeldCalls
}

export function openControl({ log, faults, heldCalls }: ControlDeps): ProviderControl {
  return {
    setFaults: async (rules) => faults.set(faultRules.parse(rules)),
    clearFaults: async () => faults.set([]),
    calls: async (filter) => log.list(filter),
    countCalls: async (filter) => log.count(filter),
    clearCalls: async () => log.clear(),
    async waitForCalls(count, filter = {}, timeoutMs = 30_000) {
      try {
        await log.whenCount(count, filter, AbortSignal.timeout(timeoutMs))
      } catch {
        throw new Error(`only ${log.count(filter)} of ${count} calls after ${timeoutMs} ms`)
      }
      return log.count(filter)
    },
    release: async (count) => heldCalls.release(count),
  }
}

const filter = z.object({
  model: z.string().optional(),
  prompt: z.string().optional(),
  outcome: z.enum(['open', 'finished', 'cut', 'aborted']).optional(),
})
const wait = filter.extend({
  count: z.coerce.number().int().min(1),
  timeoutMs: z.coerce.number().int().min(1).max(600_000).default(30_000),
})
const release = z.object({ count: z.int().min(1).optional() })

/**
 * Everything under `/control`. Responds in JSON: 200, 400 `{ error }` for an invalid rule or parameter, 404, and 408
 * after a timed-out wait.
 */
export async function answerControl(
  control: ProviderControl,
  url: URL,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const [status, answer] = await act(control, url, req).catch(wrong)
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

async function act(control: ProviderControl, url: URL, req: IncomingMessage): Promise<[number, object]> {
  const parameters = Object.fromEntries(url.searchParams)
  switch (`${req.method} ${url.pathname.slice('/control'.length)}`) {
    case 'POST /faults': {
      const rules = faultRules.parse(await readJson(req))
      await control.setFaults(rules)
      return [200, { rules: rules.length }]
    }
    case 'DELETE /faults':
      await control.clearFaults()
      return [200, { rules: 0 }]
    case 'POST /release':
      return [200, { released: await control.release(release.parse(await readJson(req)).count) }]
    case 'GET /calls':
      return [200, { data: await control.calls(filter.parse(parameters)) }]
    case 'GET /calls/count':
      return [200, { count: await control.countCalls(filter.parse(parameters)) }]
    case 'GET /calls/wait': {
      const { count, timeoutMs, ...which } = wait.parse(parameters)
      return control.waitForCalls(count, which, timeoutMs).then(
        (arrived) => [200, { count: arrived }],
        (error: Error) => [408, { error: error.message }],
      )
    }
    case 'DELETE /calls':
      await control.clearCalls()
      return [200, { count: 0 }]
    default:
      return [404, { error: `there is no ${req.method} ${url.pathname}` }]
  }
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req)
  return body.length === 0 ? {} : JSON.parse(body.toString())
}

function wrong(error: unknown): [number, object] {
  if (error instanceof z.ZodError) return [400, { error: z.prettifyError(error) }]
  return [400, { error: String(error) }]
}

/** Controls a simulated provider in another process; `url` is its base address (`{ "listening": url }`). */
export function controlClient(url: string): ProviderControl {
  const base = `${url.replace(/\/$/, '')}/control`
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${base}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const answer = (await response.json()) as T & { error?: string }
    if (!response.ok) throw new Error(`${method} /control${path}: ${answer.error}`)
    return answer
  }
  return {
    setFaults: async (rules) => void (await ask('POST', '/faults', rules)),
    clearFaults: async () => void (await ask('DELETE', '/faults')),
    calls: async (filter) =>
      (await ask<{ data: Awaited<ReturnType<ProviderControl['calls']>> }>('GET', `/calls?${query(filter)}`)).data,
    countCalls: async (filter) => (await ask<{ count: number }>('GET', `/calls/count?${query(filter)}`)).count,
    clearCalls: async () => void (await ask('DELETE', '/calls')),
    waitForCalls: async (count, filter, timeoutMs = 30_000) =>
      (await ask<{ count: number }>('GET', `/calls/wait?${query({ ...filter, count, timeoutMs })}`)).count,
    release: async (count) =>
      (await ask<{ released: number }>('POST', '/release', count === undefined ? {} : { count })).released,
  }
}

function query(filter: (CallFilter & { count?: number; timeoutMs?: number }) | undefined): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(filter ?? {})) if (value !== undefined) given.set(name, String(value))
  return given.toString()
}
