import type { RealModel } from '@gateway/prisma/seeded'
import { realModelsOf } from './real-models.ts'
import type { ProviderEntry, StackFacts } from './service-environment.ts'
import type { StackConfig } from './stack-config.ts'

/** The simulated provider, and besides it the real ones that the environment names. */
export function providersOf(
  config: StackConfig,
  simulatedPort: number,
): Pick<StackFacts, 'providers' | 'providerKeys'> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY } = config
  const simulated: ProviderEntry = {
    kind: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${simulatedPort}/v1`,
    allowPrivateAddress: true,
  }
  const openai: ProviderEntry = {
    kind: 'openai-compatible',
    baseUrl: OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
    // Whoever starts this on their own machine may well mean a model server on it.
    ...(OPENAI_BASE_URL && { allowPrivateAddress: true }),
    ...(OPENAI_API_KEY && { apiKeyEnv: 'OPENAI_API_KEY' }),
  }
  const anthropic: ProviderEntry = {
    kind: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
  }
  const named = new Set<RealModel['provider']>(realModelsOf(config).map(({ provider }) => provider))
  return {
    providers: {
      simulated,
      ...(named.has('openai') && { openai }),
      ...(named.has('anthropic') && { anthropic }),
    },
    providerKeys: {
      ...(named.has('openai') && OPENAI_API_KEY && { OPENAI_API_KEY }),
      ...(named.has('anthropic') && ANTHROPIC_API_KEY && { ANTHROPIC_API_KEY }),
    },
  }
}
