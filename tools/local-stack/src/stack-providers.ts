import type { RealProvider } from '@gateway/prisma/seeded'
import { realModelsOf } from './models-asked-for.ts'
import type { ProviderEntry, StackFacts } from './service-environment.ts'
import type { StackConfig } from './stack-config.ts'

/** Variables for the credentials of the AWS SDK, if there is no Bedrock key. */
const awsVariables = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'] as const

/** The simulated provider, and the real ones that the environment selects. */
export function providersOf(
  config: StackConfig,
  simulatedPort: number,
  env: Readonly<Record<string, string | undefined>> = {},
): Pick<StackFacts, 'providers' | 'providerKeys'> {
  const simulated: ProviderEntry = {
    kind: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${simulatedPort}/v1`,
    allowPrivateAddress: true,
  }
  const providers: StackFacts['providers'] = { simulated }
  const providerKeys: StackFacts['providerKeys'] = {}
  const real = realProviders(config, env)
  for (const name of new Set(realModelsOf(config).map(({ provider }) => provider))) {
    const { entry, keys } = real[name]()
    providers[name] = entry
    for (const [variable, value] of Object.entries(keys)) if (value) providerKeys[variable] = value
  }
  return { providers, providerKeys }
}

interface RealEntry {
  entry: ProviderEntry
  /** The variables that the provider needs. */
  keys: Record<string, string | undefined>
}

function realProviders(
  config: StackConfig,
  env: Readonly<Record<string, string | undefined>>,
): Record<RealProvider, () => RealEntry> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_CAP_FIELD, ANTHROPIC_API_KEY, GEMINI_API_KEY } = config
  return {
    openai: () => ({
      entry: {
        kind: 'openai-compatible',
        baseUrl: OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
        // On a developer's machine this is often a local model server.
        ...(OPENAI_BASE_URL && { allowPrivateAddress: true }),
        ...(OPENAI_API_KEY && { apiKeyEnv: 'OPENAI_API_KEY' }),
        ...(OPENAI_CAP_FIELD && { capField: OPENAI_CAP_FIELD }),
      },
      keys: { OPENAI_API_KEY },
    }),
    anthropic: () => ({
      entry: { kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', apiKeyEnv: 'ANTHROPIC_API_KEY' },
      keys: { ANTHROPIC_API_KEY },
    }),
    google: () => ({
      entry: {
        kind: 'gemini',
        baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
        apiKeyEnv: 'GEMINI_API_KEY',
      },
      keys: { GEMINI_API_KEY },
    }),
    azure: () => ({
      entry: {
        kind: 'azure-openai',
        baseUrl: `${config.AZURE_OPENAI_ENDPOINT!.replace(/\/$/, '')}/openai/v1`,
        apiKeyEnv: 'AZURE_OPENAI_API_KEY',
      },
      keys: { AZURE_OPENAI_API_KEY: config.AZURE_OPENAI_API_KEY },
    }),
    bedrock: () => bedrock(config.BEDROCK_REGION!, env),
  }
}

function bedrock(region: string, env: Readonly<Record<string, string | undefined>>): RealEntry {
  const own = env['AWS_BEARER_TOKEN_BEDROCK']
  return {
    entry: {
      kind: 'bedrock',
      region,
      baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
      ...(own && { apiKeyEnv: 'AWS_BEARER_TOKEN_BEDROCK' }),
    },
    keys: own
      ? { AWS_BEARER_TOKEN_BEDROCK: own }
      : Object.fromEntries(awsVariables.map((variable) => [variable, env[variable]])),
  }
}
