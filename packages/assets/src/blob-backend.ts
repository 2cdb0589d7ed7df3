import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { MediaType } from '@gateway/api/media-type'
import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3'
import { Disk } from 'flydrive'
import { S3Driver } from 'flydrive/drivers/s3'
import type { BucketSettings } from './asset-store-config.ts'

export interface StoredAsset {
  mimeType: MediaType
  bytes: number
}

/** The first and the last byte to read, counted from 0. */
export interface ByteRange {
  first: number
  last: number
}

/** Storage of bytes by key: a folder or a bucket. */
export interface BlobBackend {
  /** Stores a file's bytes under a key, and leaves the file in place. */
  store(key: string, file: string, asset: StoredAsset): Promise<void>
  /**
   * @param reader callers may read slowly, so their connections are separate from those of the process
   * @throws AssetMissing
   */
  read(key: string, range: ByteRange | null, reader: 'caller' | 'process'): Promise<Readable>
  remove(key: string): Promise<void>
  /** Lists all keys in pages of at most 1,000, in no particular order. May list what is stored or removed meanwhile. */
  list(): AsyncIterable<string[]>
  close(): void
}

/** The stream exceeds the maximum size. The caller can clear it. */
export class AssetTooLarge extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** The bytes are not PNG, JPEG, WebP, WAV, MPEG audio or PDF. The caller can clear it. */
export class AssetTypeUnknown extends Error {
  constructor() {
    super('the bytes are of no type that is stored')
  }
}

/** No asset has these ids. */
export class AssetMissing extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no such asset', options)
  }
}

/** The store cannot be read or written at the moment. */
export class AssetStoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the asset store is unavailable', options)
  }
}

const CONNECT_MS = 3_000
/** A bucket from which nothing comes for this long has its connection closed; the SDK then retries on another. */
const SILENT_MS = 10_000

/** Keys of one page. S3 lists no more. */
export const LISTED_KEYS = 1_000

/** Connections of the process itself: stores, and reads at full speed. */
const OWN_SOCKETS = 256

/**
 * A bucket of S3 or of an S3-compatible store. Credentials come from the SDK's own variables, files and roles. Callers
 * who read slowly hold their connections, so they have separate ones: stores and the process's own reads never wait for
 * them.
 * @param maxCallers maximum number of callers that read at the same time
 */
export function openBucketBackend(bucket: BucketSettings, maxCallers: number): BlobBackend {
  const { name } = bucket
  const { silentMs = SILENT_MS } = bucket
  const client = openClient(bucket, OWN_SOCKETS, { socketTimeout: silentMs })
  const callers = openClient(bucket, maxCallers, {
    socketTimeout: 0,
    requestTimeout: silentMs,
    throwOnRequestTimeout: true,
  })
  const disk = new Disk(new S3Driver({ client, bucket: name, visibility: 'private', supportsACL: false }))

  return {
    store: (key, file, { mimeType, bytes }) =>
      disk.copyFromFs(file, key, { contentType: mimeType, contentLength: bytes }),
    // The library can only read a whole object.
    async read(key, range, reader) {
      const question = new GetObjectCommand({
        Bucket: name,
        Key: key,
        ...(range && { Range: `bytes=${range.first}-${range.last}` }),
      })
      const answer = await (reader === 'caller' ? callers : client).send(question).catch((error: Error) => {
        throw error.name === 'NoSuchKey' ? new AssetMissing({ cause: error }) : error
      })
      if (reader === 'caller') endIfSilent(answer.Body as IncomingMessage, silentMs)
      return answer.Body as Readable
    },
    remove: (key) => disk.delete(key),
    async *list() {
      for await (const { Contents = [] } of paginateListObjectsV2({ client, pageSize: LISTED_KEYS }, { Bucket: name }))
        yield Contents.flatMap(({ Key }) => Key ?? [])
    },
    close() {
      client.destroy()
      callers.destroy()
    },
  }
}

/**
 * Ends a response whose sender is silent while bytes are expected of it. The connection is also without traffic while a
 * caller reads slowly and the buffer is full. Then no bytes are expected.
 */
function endIfSilent(body: IncomingMessage, silentMs: number): void {
  const { socket } = body
  const check = () => {
    if (body.readableLength < body.readableHighWaterMark) body.destroy(new Error('the bucket is silent'))
    else socket.setTimeout(silentMs, check)
  }
  socket.setTimeout(silentMs, check)
  body.once('close', () => socket.off('timeout', check)) // others use the connection after it
}

/** @param timeouts of responses: the SDK's `requestTimeout` ends with their headers, its `socketTimeout` does not */
function openClient(
  { region, endpoint, pathStyle }: BucketSettings,
  maxSockets: number,
  timeouts: { socketTimeout: number; requestTimeout?: number; throwOnRequestTimeout?: true },
): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      ...timeouts,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
    ...(endpoint !== null && { endpoint }),
    // Stores other than Amazon's may not support the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: silent, // the default writes to the standard streams
  })
}

const ignore = () => {}
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }
