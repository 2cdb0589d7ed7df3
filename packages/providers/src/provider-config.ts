import { fieldProblem, READABLE } from '@gateway/api/field-problem'
import { z } from 'zod'
import { isPrivateAddress } from '@gateway/service-kit/public-network/public-lookup'
import { readFileSync, statSync } from 'node:fs'

/** No call lasts longer than this, regardless of the configuration (rules §3.8). */
export const longestCallMs = 300_000

const limitMs = z.int().min(1).max(longestCallMs)

/** Settings of every kind of provider. */
const common = {
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).meta({
    description: 'Base URL of the provider, such as https://api.example.com/v1. Redirects are not followed.',
  }),
  apiKey: z.string().min(1).optional().meta({ description: 'API key for this provider.' }),
  apiKeyEnv: z.string().min(1).optional().meta({ description: 'Environment variable that holds the key.' }),
  apiKeyFile: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'File that holds the key, such as a mounted secret. Read once, at the start.' }),
  allowPrivateAddress: z
    .boolean()
    .default(false)
    .meta({ description: 'Allow plain http, and loopback, private and link-local addresses.' }),
  firstByteMs: limitMs.default(120_000).meta({
    description:
      'Maximum wait in milliseconds for the first chunk of a stream, or for the headers of a response that is not streamed, which many providers send only with the complete response.',
  }),
  idleMs: limitMs
    .default(60_000)
    .meta({ description: 'Maximum pause in milliseconds within a response that has started.' }),
  totalMs: limitMs.default(longestCallMs).meta({ description: 'Maximum duration of one attempt, in milliseconds.' }),
  tries: z
    .int()
    .min(1)
    .max(5)
    .default(2)
    .meta({ description: 'Maximum number of attempts per call at this provider.' }),
  circuitFailures: z.int().min(1).max(1_000_000).default(10).meta({
    description:
      'Number of consecutive failures after which the circuit breaker opens, so that the provider gets no calls for a while.',
  }),
  circuitOpenMs: limitMs.default(5_000).meta({
    description: 'Time in milliseconds until the first probe of an open circuit breaker, and between further probes.',
  }),
  connections: z.int().min(1).max(10_000).optional().meta({
    description:
      'Maximum number of open connections per process. Without it, `MAX_CONCURRENT_CALLS` in a gateway and twice `CONCURRENCY` in a worker. Further calls wait, and projects take turns.',
  }),
  maxWaiting: z.int().min(0).max(1_000_000).default(1_024).meta({
    description:
      'Maximum number of calls waiting for a connection, per process. One project has at most half of them. Further calls are refused with `overloaded`.',
  }),
  waitMs: limitMs.optional().meta({
    description:
      'Time in milliseconds that a call waits for a connection before it is refused with `overloaded`. Without it, 8,000 in a gateway and 120,000 in a worker.',
  }),
}

const capField = z.enum(['max_tokens', 'max_completion_tokens']).optional().meta({
  description:
    'Field for the output cap. Without it, max_completion_tokens at api.openai.com and Azure, and max_tokens elsewhere.',
})
const imageFormatField = z.boolean().default(true).meta({
  description:
    'Send response_format when requesting images. Turn off for models that refuse it; they always return base64.',
})

const openAiCompatible = z.strictObject({
  kind: z.literal('openai-compatible'),
  ...common,
  capField,
  imageFormatField,
  streamUsageField: z.boolean().default(true).meta({
    description:
      'Request the usage of streams with stream_options. Turn off for providers that refuse it and send usage anyway.',
  }),
  toolCallIds: z.enum(['any', 'nine-characters']).default('any').meta({
    description: 'Accepted IDs of tool calls. Mistral accepts nine letters and digits only.',
  }),
  reasoningHistory: z.boolean().optional().meta({
    description:
      'Send reasoning_content and reasoning of earlier responses back. Without it, they are sent to all but api.openai.com, which has no such fields.',
  }),
  cacheControl: z.boolean().default(false).meta({
    description:
      'Send cache_control of messages, parts and tools. Some servers of this format refuse it. The kinds anthropic and bedrock always receive it.',
  }),
})

const azureOpenAi = z.strictObject({
  kind: z.literal('azure-openai'),
  ...common,
  capField,
  imageFormatField,
  apiVersion: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d(-preview)?$/, 'must be a version such as 2024-10-21')
    .optional()
    .meta({
      description:
        'The api-version for URLs that contain a deployment; baseUrl then ends with /openai. Without it, baseUrl ends with /openai/v1, which needs no version. In both cases the model of a route is the deployment.',
    }),
})

const openAiResponses = z.strictObject({
  kind: z.literal('openai-responses'),
  ...common,
  encryptedReasoning: z.boolean().default(true).meta({
    description:
      'Request the reasoning of models in encrypted form, so that it continues after tool calls. Turn off for models that do not reason: OpenAI refuses it for them.',
  }),
})

const anthropic = z.strictObject({ kind: z.literal('anthropic'), ...common })

const gemini = z.strictObject({ kind: z.literal('gemini'), ...common })

const bedrock = z.strictObject({
  kind: z.literal('bedrock'),
  ...common,
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as us-east-1')
    .meta({
      description:
        'Region that requests are signed for. Without a key (a Bedrock API key), credentials come from the default chain of the AWS SDK.',
    }),
})

/** One provider of the `PROVIDERS` variable. */
export const providerConfig = z
  .discriminatedUnion('kind', [openAiCompatible, openAiResponses, azureOpenAi, anthropic, gemini, bedrock])
  .superRefine((provider, context) => {
    const problem = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    const url = new URL(provider.baseUrl)
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      problem('baseUrl', 'must have no user, password, query or fragment')
    const keys = (['apiKey', 'apiKeyEnv', 'apiKeyFile'] as const).filter((field) => provider[field] !== undefined)
    if (keys.length > 1) problem(keys[1]!, `give one of ${keys.join(', ')}`)
    if (provider.allowPrivateAddress) return
    if (url.protocol !== 'https:') problem('baseUrl', 'must be https unless allowPrivateAddress is true')
    if (isPrivateAddress(url.hostname)) problem('baseUrl', 'is a private address; allowPrivateAddress permits it')
  })

export type ProviderConfig = z.infer<typeof providerConfig>

/** Shape of the `PROVIDERS` variable: providers by the name used in the routes of products. */
export const providersConfig = z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/), providerConfig, {
  error: (issue) =>
    issue.code === 'invalid_key' ? 'a name must be lower-case letters, digits and hyphens, at most 64' : undefined,
})

export type ProvidersConfig = z.infer<typeof providersConfig>

/**
 * Reads the `PROVIDERS` variable (JSON text) and the keys that `apiKeyEnv` and `apiKeyFile` name. If
 * `PROVIDER_ALLOWED_HOSTS` is set, only hosts listed in it are allowed. Throws an error that names the variable and the
 * problem and never contains a key.
 */
export function readProviders(text: string, environment: Record<string, string | undefined>): ProvidersConfig {
  const read = providersConfig.safeParse(parseJson(text), READABLE)
  if (!read.success) throw new Error(`PROVIDERS is wrong: ${read.error.issues.map(complaintOf).join('; ')}.`)
  for (const [name, provider] of Object.entries(read.data)) {
    refuseOtherHosts(name, new URL(provider.baseUrl), environment['PROVIDER_ALLOWED_HOSTS'])
    const key = providerKey(name, provider, environment)
    if (key !== undefined) provider.apiKey = key
  }
  return read.data
}

/** A configured provider without its key, for the operator. */
export interface ProviderDescription {
  name: string
  kind: ProviderConfig['kind']
  /** Where its key is from. `aws_chain`: the default chain of the AWS SDK. */
  credential: 'configuration' | 'environment' | 'file' | 'aws_chain' | 'none'
  /** When the file of its key was last changed; null: the key is from elsewhere. */
  credentialAt: Date | null
}

/** Describes the providers as `readProviders` returns them. */
export function describeProviders(config: ProvidersConfig): ProviderDescription[] {
  return Object.entries(config).map(([name, { kind, apiKey, apiKeyEnv, apiKeyFile }]) => ({
    name,
    kind,
    credential:
      apiKeyFile !== undefined
        ? 'file'
        : apiKeyEnv !== undefined
          ? 'environment'
          : apiKey !== undefined
            ? 'configuration'
            : kind === 'bedrock'
              ? 'aws_chain'
              : 'none',
    credentialAt: apiKeyFile === undefined ? null : changedAt(apiKeyFile),
  }))
}

function changedAt(file: string): Date | null {
  return statSync(file, { throwIfNoEntry: false })?.mtime ?? null
}

/** Omits the given value: it may be a key. */
function complaintOf(issue: z.core.$ZodIssue): string {
  const { field, wrong, rule } = fieldProblem(issue)
  const missing = wrong === 'is missing' ? 'is missing, and ' : ''
  return `${field || 'it'} ${missing}${rule ?? 'is not a known field'}`
}

/** @param allowed comma-separated hosts, each with its port unless it is the default */
function refuseOtherHosts(name: string, { host }: URL, allowed: string | undefined): void {
  if (!allowed || allowed.split(',').some((entry) => entry.trim().toLowerCase() === host)) return
  throw new Error(`PROVIDERS: the provider "${name}" is at ${host}, which PROVIDER_ALLOWED_HOSTS does not list.`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which may contain a key.
    throw new Error('PROVIDERS is wrong: it is not JSON.')
  }
}

interface KeyWays {
  apiKey?: string | undefined
  apiKeyEnv?: string | undefined
  apiKeyFile?: string | undefined
}

/**
 * Returns the key of a provider from the configured place, or undefined if it needs none. Throws an error that names
 * the place and never contains the key.
 */
export function providerKey(
  name: string,
  { apiKey, apiKeyEnv, apiKeyFile }: KeyWays,
  environment: Record<string, string | undefined>,
): string | undefined {
  const trouble = (where: string): Error => new Error(`PROVIDERS: the provider "${name}" takes its key from ${where}.`)

  function fit(key: string, where: string): string {
    // Any other key would be refused as a header value at each call.
    if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
    throw trouble(`${where}, which holds no key: it has blanks or special characters, or is too long`)
  }

  if (apiKeyEnv !== undefined) {
    const key = environment[apiKeyEnv]
    if (!key) throw trouble(`${apiKeyEnv}, which is not set`)
    return fit(key, apiKeyEnv)
  }
  if (apiKeyFile !== undefined) {
    const key = readFile(apiKeyFile)?.trim()
    if (key === undefined) throw trouble(`the file ${apiKeyFile}, which cannot be read`)
    if (key === '') throw trouble(`the file ${apiKeyFile}, which is empty`)
    return fit(key, `the file ${apiKeyFile}`)
  }
  return apiKey === undefined ? undefined : fit(apiKey, 'apiKey')
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
