import type { CallFilter } from './call-log.ts'
import type { ProviderControl } from './control.ts'

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
