import { flowLimits } from '@gateway/api/limits'
import { wholeNumber } from '@gateway/service-kit/process/config'
import { z } from 'zod'

export interface AssetStoreSettings {
  /** Used if there is no bucket. */
  folder: string
  bucket: BucketSettings | null
  /** Those left out have their defaults. */
  limits?: Partial<AssetLimits>
}

export interface AssetLimits {
  /** Assets that callers read at the same time, in total and per project. */
  reads: number
  readsPerProject: number
  /** Bytes on their way into the store; one project has at most half. */
  transitBytes: number
  /** How long bytes wait for room. */
  transitWaitMs: number
}

const GIB = 1024 ** 3

export const assetLimits: AssetLimits = { reads: 1_024, readsPerProject: 16, transitBytes: GIB, transitWaitMs: 0 }

export interface BucketSettings {
  name: string
  region: string
  /** Null for Amazon's own. */
  endpoint: string | null
  /** Whether the bucket's name is part of the path instead of the host name. */
  pathStyle: boolean
  /** How long a connection to it may be without traffic while bytes are expected. Milliseconds. Default: 10 seconds. */
  silentMs?: number
}

/** Variables for the location of assets, shared by all services that store or read them. */
export const assetStoreConfig = {
  ASSETS_FOLDER: z
    .string()
    .min(1)
    .default('.local/assets')
    .meta({ description: 'Folder for assets. Several machines must share it' }),
  ASSETS_S3_BUCKET: z.string().min(3).optional().meta({
    description:
      'S3 bucket for assets, instead of the folder. Credentials come from the usual AWS variables, for example AWS_PROFILE',
  }),
  ASSETS_S3_REGION: z.string().min(1).default('us-east-1').meta({ description: 'Region of the bucket' }),
  ASSETS_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'expected an address that starts with http:// or https://' })
    .optional()
    .meta({ description: 'URL of an S3-compatible store. Without it, Amazon S3 is used' }),
  ASSETS_S3_PATH_STYLE: z
    .enum(['0', '1', 'false', 'true'])
    .default('0')
    .transform((value) => value === '1' || value === 'true')
    .meta({ description: 'Put the bucket name into the path, as most S3-compatible stores require' }),
  // A project can take half of it, so the minimum is twice the largest asset.
  MAX_CONCURRENT_ASSET_BYTES: wholeNumber({ min: 2 * flowLimits.assetBytes, max: 100_000_000_000 })
    .default(assetLimits.transitBytes)
    .meta({
      description:
        'Maximum bytes of assets being stored, which are files in the temporary folder until then. One project has at most half. Further uploads are refused with `overloaded`, and nodes wait',
    }),
}

/** Variables of a service that sends assets to callers. */
export const assetReadsConfig = {
  MAX_CONCURRENT_ASSET_READS: wholeNumber({ min: 1, max: 100_000 }).default(assetLimits.reads).meta({
    description:
      'Maximum number of assets that callers read at the same time. Further reads are refused with `overloaded`. Each holds a connection to the bucket',
  }),
  MAX_CONCURRENT_ASSET_READS_PER_PROJECT: wholeNumber({ min: 1, max: 100_000 })
    .default(assetLimits.readsPerProject)
    .meta({ description: 'Maximum number of assets that callers of one project read at the same time' }),
}

type Config = z.output<z.ZodObject<typeof assetStoreConfig>> & Partial<z.output<z.ZodObject<typeof assetReadsConfig>>>

export function assetStoreOf(config: Config): AssetStoreSettings {
  const { ASSETS_FOLDER: folder, ASSETS_S3_BUCKET: name, MAX_CONCURRENT_ASSET_BYTES: transitBytes } = config
  const { MAX_CONCURRENT_ASSET_READS: reads, MAX_CONCURRENT_ASSET_READS_PER_PROJECT: readsPerProject } = config
  const limits = {
    transitBytes,
    ...(reads !== undefined && { reads }),
    ...(readsPerProject !== undefined && { readsPerProject }),
  }
  if (name === undefined) return { folder, bucket: null, limits }
  return {
    folder,
    limits,
    bucket: {
      name,
      region: config.ASSETS_S3_REGION,
      endpoint: config.ASSETS_S3_ENDPOINT ?? null,
      pathStyle: config.ASSETS_S3_PATH_STYLE,
    },
  }
}
