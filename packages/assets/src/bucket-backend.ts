import type { Readable } from 'node:stream'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Disk } from 'flydrive'
import { S3Driver } from 'flydrive/drivers/s3'
import type { BucketSettings } from './asset-store-config.ts'
import { AssetMissing, type BlobBackend } from './blob-backend.ts'

const CONNECT_MS = 3_000
/** A connection without traffic in either direction for this long is closed; the SDK then retries on another. */
const SILENT_MS = 10_000

/** A bucket of S3 or of an S3-compatible store. Credentials come from the SDK's own variables, files and roles. */
export function openBucketBackend({ name, region, endpoint, pathStyle }: BucketSettings): BlobBackend {
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENT_MS },
    ...(endpoint !== null && { endpoint }),
    // Stores other than Amazon's may not support the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: silent, // the default writes to the standard streams
  })
  const disk = new Disk(new S3Driver({ client, bucket: name, visibility: 'private', supportsACL: false }))

  return {
    store: (key, file, { mimeType, bytes }) =>
      disk.copyFromFs(file, key, { contentType: mimeType, contentLength: bytes }),
    // The library can only read a whole object.
    async read(key, range) {
      const question = new GetObjectCommand({
        Bucket: name,
        Key: key,
        ...(range && { Range: `bytes=${range.first}-${range.last}` }),
      })
      const answer = await client.send(question).catch((error: Error) => {
        throw error.name === 'NoSuchKey' ? new AssetMissing({ cause: error }) : error
      })
      return answer.Body as Readable
    },
    remove: (key) => disk.delete(key),
    close: () => client.destroy(),
  }
}

const ignore = () => {}
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }
