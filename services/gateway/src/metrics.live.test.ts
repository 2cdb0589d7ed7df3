import { expect } from 'vitest'
import { stackTest as test, newPrompt } from './stack.fixture.ts'

const SLOW_MS = 400

async function figures(url: string): Promise<(name: string, kind: string) => number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (name, label) => Number(new RegExp(`^${name}\\{[^}]*"${label}"[^}]*\\} (\\S+)`, 'm').exec(text)?.[1] ?? 0)
}

test.for(['json', 'stream'])(
  'excludes the time of a slow provider from the own duration of a call: %s',
  async (kind, { stack, tenant }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, latencyMs: SLOW_MS }])
    const before = await figures(tenant.metricsUrl)
    const answer = await tenant.chat({ messages: [{ role: 'user', content }], stream: kind === 'stream' })
    await answer.text()
    // A stream is counted after its last chunk is written; its reader may have received that chunk already.
    await expect
      .poll(async () => (await figures(tenant.metricsUrl))('gateway_calls_duration_count', kind))
      .toBe(before('gateway_calls_duration_count', kind) + 1)

    const after = await figures(tenant.metricsUrl)
    const grown = (name: string, label: string) => after(name, label) - before(name, label)
    expect(grown('gateway_calls_own_duration_count', kind)).toBe(1)
    const took = grown('gateway_calls_duration_sum', kind)
    expect(took).toBeGreaterThanOrEqual(SLOW_MS / 1_000)
    expect(took - grown('gateway_calls_own_duration_sum', kind)).toBeGreaterThanOrEqual((SLOW_MS - 1) / 1_000)
    expect(grown('gateway_settlements_duration_count', 'settled')).toBe(1)
  },
)
