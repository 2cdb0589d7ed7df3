import { z } from 'zod'

const ASSETS_CURE =
  'Delete assets that are no longer needed, or shorten how long the project keeps them (a deleted asset counts for another hour)'

/**
 * What a project may store (rules §2.11). The operator sets other defaults in `QUOTAS`, and other values for single
 * projects.
 */
export const quotas = {
  assetBytes: {
    default: 5 * 1024 ** 3,
    most: 2 ** 50,
    noun: 'bytes of assets',
    cure: ASSETS_CURE,
  },
  assets: {
    default: 100_000,
    most: 100_000_000,
    noun: 'assets',
    cure: ASSETS_CURE,
  },
  executionBytes: {
    default: 20 * 1024 ** 3,
    most: 2 ** 50,
    noun: 'bytes of inputs and results of executions',
    cure: 'Wait until older executions are deleted, 30 days after they ran, or pass smaller values between nodes',
  },
  flows: { default: 1_000, most: 100_000, noun: 'sandbox products', cure: 'Use a separate project for other flows' },
  revisions: {
    default: 5_000,
    most: 1_000_000,
    noun: 'saved revisions',
    cure: 'Save fewer drafts as revisions',
  },
  keys: { default: 1_000, most: 1_000_000, noun: 'active keys', cure: 'Revoke keys that are no longer used' },
  tokens: { default: 100, most: 100_000, noun: 'active tokens', cure: 'Delete tokens that are no longer used' },
  webhooks: { default: 5, most: 100, noun: 'alert destinations', cure: 'Delete one that is no longer used' },
} as const satisfies Record<string, { default: number; most: number; noun: string; cure: string }>

export type QuotaName = keyof typeof quotas
export const quotaNames = Object.keys(quotas) as QuotaName[]

/** Values of some quotas: the `QUOTAS` variable, and what is stored for a project. */
export type QuotaValues = { [Name in QuotaName]?: number | undefined }

const value = (name: QuotaName) =>
  z.int().min(0).max(quotas[name].most).describe(`${quotas[name].noun} of a project; ${quotas[name].default} if unset`)

const values = {
  assetBytes: value('assetBytes'),
  assets: value('assets'),
  executionBytes: value('executionBytes'),
  flows: value('flows'),
  revisions: value('revisions'),
  keys: value('keys'),
  tokens: value('tokens'),
  webhooks: value('webhooks'),
}

export const quotaValues = z.strictObject(values).partial()

/** PATCH …/quotas: null returns to the default. */
export const quotaPatch = z
  .strictObject({
    assetBytes: values.assetBytes.nullable(),
    assets: values.assets.nullable(),
    executionBytes: values.executionBytes.nullable(),
    flows: values.flows.nullable(),
    revisions: values.revisions.nullable(),
    keys: values.keys.nullable(),
    tokens: values.tokens.nullable(),
    webhooks: values.webhooks.nullable(),
  })
  .partial()
  .meta({ examples: [{ assetBytes: 10 * 1024 ** 3 }] })

export const quotaRecords = z
  .strictObject({
    quotas: z.array(
      z.strictObject({
        quota: z.enum(['assetBytes', 'assets', 'executionBytes', 'flows', 'revisions', 'keys', 'tokens', 'webhooks']),
        used: z.int().min(0).describe('stored now; a deleted asset counts until its bytes are removed, an hour later'),
        limit: z.int().min(0),
        isDefault: z.boolean().describe('true: the default limit; false: set for this project'),
      }),
    ),
  })
  .meta({
    examples: [{ quotas: [{ quota: 'assetBytes', used: 4_812_331, limit: 5_368_709_120, isDefault: true }] }],
  })
export type QuotaRecords = z.infer<typeof quotaRecords>

/** Returns the quota of a project: its own, the operator's default or ours. */
export function quotaOf(name: QuotaName, defaults: QuotaValues, own: QuotaValues): number {
  return own[name] ?? defaults[name] ?? quotas[name].default
}

export interface QuotaFacts {
  quota: QuotaName
  limit: number
  /** Stored now. */
  used: number
  /** What it counts. */
  noun: string
  /** How to make room, as the beginning of a sentence. */
  cure: string
}

/** Returns the facts of `quota_reached`. */
export function quotaFacts(quota: QuotaName, limit: number, used: number): QuotaFacts {
  const { noun, cure } = quotas[quota]
  return { quota, limit, used, noun, cure }
}
