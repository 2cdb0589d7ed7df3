import { z } from 'zod'
import { isPrivateAddress } from './private-address.ts'

/** No call lasts longer than this, whatever the configuration says (decisions.md, section 3). */
export const longestCallMs = 300_000

const limitMs = (byDefault: number) => z.int().min(1).max(longestCallMs).default(byDefault)

/** One origin of the `ORIGINS` variable. */
export const originConfig = z
  .strictObject({
    kind: z.literal('openai-compatible'),
    baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).meta({
      description: 'Base address of the wire format, such as https://api.example.com/v1. Redirects are not followed.',
    }),
    apiKey: z.string().min(1).optional().meta({ description: 'Sent as the bearer token.' }),
    apiKeyEnv: z.string().min(1).optional().meta({ description: 'The environment variable that holds the key.' }),
    allowPrivateAddress: z
      .boolean()
      .default(false)
      .meta({ description: 'Permits plain http, and loopback, private and link-local addresses.' }),
    capField: z
      .enum(['max_tokens', 'max_completion_tokens'])
      .default('max_tokens')
      .meta({ description: 'The field in which this origin takes the output cap.' }),
    firstByteMs: limitMs(120_000).meta({
      description:
        'How long to wait for the first chunk of a stream, or for the head of an answer that is not streamed, which many origins send only when the answer is complete.',
    }),
    idleMs: limitMs(60_000).meta({ description: 'How long an answer that has begun may pause.' }),
    totalMs: limitMs(longestCallMs).meta({ description: 'How long one call may last.' }),
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .default(256)
      .meta({ description: 'Open connections at most, per process.' }),
  })
  .superRefine((origin, context) => {
    const problem = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    const url = new URL(origin.baseUrl)
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      problem('baseUrl', 'must have no user, password, query or fragment')
    if (origin.apiKey !== undefined && origin.apiKeyEnv !== undefined)
      problem('apiKeyEnv', 'give either apiKey or apiKeyEnv, not both')
    if (origin.allowPrivateAddress) return
    if (url.protocol !== 'https:') problem('baseUrl', 'must be https unless allowPrivateAddress is true')
    if (isPrivateAddress(url.hostname)) problem('baseUrl', 'is a private address; allowPrivateAddress permits it')
  })

export type OriginConfig = z.infer<typeof originConfig>

/** Shape of the `ORIGINS` variable: origins by the name that the products' routes use. */
export const originsConfig = z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/), originConfig, {
  error: (issue) =>
    issue.code === 'invalid_key' ? 'a name must be lower-case letters, digits and hyphens, at most 64' : undefined,
})

export type OriginsConfig = z.infer<typeof originsConfig>

/**
 * Reads the `ORIGINS` variable (JSON text) and takes the keys named by `apiKeyEnv` from the environment.
 * Throws one error that names the variable and every problem; no key is ever part of it.
 */
export function readOrigins(text: string, environment: Record<string, string | undefined>): OriginsConfig {
  const read = originsConfig.safeParse(parseJson(text))
  if (!read.success) throw new Error(`ORIGINS is wrong.\n${z.prettifyError(read.error)}`)
  for (const [name, origin] of Object.entries(read.data)) {
    if (origin.apiKeyEnv === undefined) continue
    const key = environment[origin.apiKeyEnv]
    if (!key) throw new Error(`ORIGINS: the origin "${name}" takes its key from ${origin.apiKeyEnv}, which is not set.`)
    origin.apiKey = key
  }
  return read.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may hold a key.
    throw new Error('ORIGINS is wrong: it is not JSON.')
  }
}
