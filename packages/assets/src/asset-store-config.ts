import { z } from 'zod'

export interface AssetStoreSettings {
  /** Used if there is no bucket. */
  folder: string
  bucket: BucketSettings | null
}

export interface BucketSettings {
  name: string
  region: string
  /** Null for Amazon's own. */
  endpoint: string | null
  /** Whether the bucket's name is part of the path instead of the host name. */
  pathStyle: boolean
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
}

type Config = z.output<z.ZodObject<typeof assetStoreConfig>>

export function assetStoreOf(config: Config): AssetStoreSettings {
  const { ASSETS_FOLDER: folder, ASSETS_S3_BUCKET: name } = config
  if (name === undefined) return { folder, bucket: null }
  return {
    folder,
    bucket: {
      name,
      region: config.ASSETS_S3_REGION,
      endpoint: config.ASSETS_S3_ENDPOINT ?? null,
      pathStyle: config.ASSETS_S3_PATH_STYLE,
    },
  }
}
