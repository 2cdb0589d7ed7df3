import { realModelsOf } from './real-models.ts'
import type { StackFacts } from './service-environment.ts'
import type { StackConfig } from './stack-config.ts'

/** The simulated origin, and besides it the real one that the environment names. */
export function originsOf(config: StackConfig, simulatedPort: number): Pick<StackFacts, 'origins' | 'originKeys'> {
  const { OPENAI_API_KEY: key, OPENAI_BASE_URL: baseUrl } = config
  const simulated = {
    kind: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${simulatedPort}/v1`,
    allowPrivateAddress: true,
  } as const
  if (realModelsOf(config).length === 0) return { origins: { simulated }, originKeys: {} }
  return {
    origins: {
      simulated,
      openai: {
        kind: 'openai-compatible',
        baseUrl: baseUrl ?? 'https://api.openai.com/v1',
        // Whoever starts this on his own machine may well mean a model server on it.
        ...(baseUrl && { allowPrivateAddress: true }),
        ...(key && { apiKeyEnv: 'OPENAI_API_KEY' }),
      },
    },
    originKeys: key ? { OPENAI_API_KEY: key } : {},
  }
}
