import { fieldProblem, READABLE } from '@gateway/api/field-problem'
import { z } from 'zod'
import { isPrivateAddress } from '@gateway/service-kit/public-network/public-lookup'
import { readFileSync } from 'node:fs'

/** No call lasts longer than this, regardless of the configuration (rules §3.8). */
export const longestCallMs = 300_000

const limitMs = z.int().min(1).max(longestCallMs)

/** Settings of every kind of provider. */
const common = {
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).meta({
    description: 'Base address of the wire format, such as https://api.example.com/v1. Redirects are not followed.',
  }),
  apiKey: z.string().min(1).optional().meta({ description: 'The key for this provider.' }),
  apiKeyEnv: z.string().min(1).optional().meta({ description: 'The environment variable that holds the key.' }),
  apiKeyFile: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'The file that holds the key, such as a mounted secret; read at the start.' }),
  allowPrivateAddress: z
    .boolean()
    .default(false)
    .meta({ description: 'Permits plain http, and loopback, private and link-local addresses.' }),
  firstByteMs: limitMs.default(120_000).meta({
    description:
      'How long to wait for the first chunk of a stream, or for the head of an answer that is not streamed, which many providers send only when the answer is complete.',
  }),
  idleMs: limitMs.default(60_000).meta({ description: 'How long an answer that has begun may pause.' }),
  totalMs: limitMs.default(longestCallMs).meta({ description: 'How long one attempt may last.' }),
  tries: z.int().min(1).max(5).default(2).meta({ description: 'How often one call may ask this provider.' }),
  circuitFailures: z.int().min(1).max(1_000_000).default(10).meta({
    description:
      'After this many failures without a complete answer between them the provider is not asked for a while.',
  }),
  circuitOpenMs: limitMs
    .default(5_000)
    .meta({ description: 'How long it is not asked, and how long between probes then.' }),
  connections: z.int().min(1).max(10_000).optional().meta({
    description:
      'Open connections at most, per process. When left out: as many as a gateway has places (`MAX_CONCURRENT_CALLS`), or twice as many as a worker runs nodes (`CONCURRENCY`). Further calls wait, and projects take turns.',
  }),
  maxWaiting: z.int().min(0).max(1_000_000).default(1_024).meta({
    description:
      'How many calls may wait for a connection, per process; one project fills at most half of them. Further calls are refused with `overloaded`.',
  }),
  waitMs: limitMs.optional().meta({
    description:
      'How long a call may wait for a connection before it is refused with `overloaded`. When left out: 8,000 in a gateway, 120,000 in a worker.',
  }),
}

const capField = z.enum(['max_tokens', 'max_completion_tokens']).optional().meta({
  description:
    'The field in which this provider takes the output cap. When left out: max_completion_tokens at api.openai.com and at Azure, max_tokens elsewhere.',
})
const imageFormatField = z.boolean().default(true).meta({
  description: 'Whether images are asked for with response_format; some models refuse it and always answer base64.',
})

const openAiCompatible = z.strictObject({
  kind: z.literal('openai-compatible'),
  ...common,
  capField,
  imageFormatField,
  streamUsageField: z.boolean().default(true).meta({
    description: 'Whether usage of streams is asked for with stream_options, which some refuse and send usage anyway.',
  }),
  toolCallIds: z.enum(['any', 'nine-characters']).default('any').meta({
    description: 'Which ids of tool calls this provider takes; Mistral takes nine letters and digits.',
  }),
  reasoningHistory: z.boolean().optional().meta({
    description:
      'Whether reasoning_content and reasoning of earlier answers are sent back. When left out: not to api.openai.com, which has no such fields.',
  }),
  cacheControl: z.boolean().optional().meta({
    description: 'Whether cache_control of messages, parts and tools is sent. When left out: to openrouter.ai only.',
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
        'The api-version of addresses with a deployment in them; baseUrl ends in /openai then. When left out, baseUrl ends in /openai/v1, which needs none. The model of a route is the deployment, either way.',
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
        'The region that requests are signed for. Without a key (a Bedrock API key), credentials are found as the AWS SDK finds them.',
    }),
})

/** One provider of the `PROVIDERS` variable. */
export const providerConfig = z
  .discriminatedUnion('kind', [openAiCompatible, azureOpenAi, anthropic, gemini, bedrock])
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
