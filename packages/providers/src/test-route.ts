import type { Providers } from './open-providers.ts'
import { ProviderFailure } from './provider-failure.ts'

/** Some models refuse a smaller cap. */
const OUTPUT_CAP = 16
const TEST_MS = 30_000
const CODE_CHARACTERS = 64

interface Tested {
  provider: string
  model: string
  kind: 'chat' | 'embedding'
}

interface RouteTestResult {
  /** To the whole response, or to the failure. */
  latencyMs: number
  failure: { kind: string; status: number | null; code: string | null } | null
}

/**
 * Sends the smallest request to a model of a provider, through the same adapter, connections and circuit breaker as a
 * call. It has no reference, so it is not counted among the calls. Never rejects.
 */
export async function testRoute(
  providers: Pick<Providers, 'chat' | 'embed'>,
  { provider, model, kind }: Tested,
): Promise<RouteTestResult> {
  const startMs = performance.now()
  const failure = await failureIn(async () => {
    const call = { routes: [{ provider, model }], project: '', signal: AbortSignal.timeout(TEST_MS) }
    if (kind === 'embedding')
      await providers.embed({ ...call, inputs: { kind: 'texts', texts: ['test'] }, dimensions: null })
    else await providers.chat({ ...call, forwarded: CHAT, outputCap: OUTPUT_CAP, stream: false })
  })
  return { latencyMs: Math.round(performance.now() - startMs), failure }
}

const CHAT = JSON.stringify({ messages: [{ role: 'user', content: 'Reply with OK.' }] })

async function failureIn(work: () => Promise<void>): Promise<RouteTestResult['failure']> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof ProviderFailure)) return { kind: 'timeout', status: null, code: null }
    const { kind, providerStatus: status = null, providerCode: code = null } = error
    return { kind, status, code: code && code.slice(0, CODE_CHARACTERS) }
  }
}
