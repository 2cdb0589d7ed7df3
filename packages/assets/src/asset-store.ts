import { finished, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '@gateway/api/refusal'
import { openByteBudget } from '@gateway/service-kit/async/byte-budget'
import { atMostEvery, type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'
import {
  AssetMissing,
  AssetStoreUnavailable,
  type BlobBackend,
  type ByteRange,
  LISTED_KEYS,
  type StoredAsset,
} from './blob-backend.ts'
import { assetLimits, type AssetStoreSettings } from './asset-store-config.ts'
import { openReadLimit } from './read-limit.ts'
import { openTemporaryFolder } from './temporary-file.ts'
import { Disk } from 'flydrive'
import { mkdir, open, opendir } from 'node:fs/promises'
import path from 'node:path'
import { FSDriver } from 'flydrive/drivers/fs'
import type { Telemetry } from '@gateway/service-kit/process/telemetry'

// Storage of a project's bytes.
//   B1  A key consists of two ids of ours and nothing else, so no name can lead elsewhere.
//   B2  Bytes first go to a temporary file, which counts them and detects their type, and are then stored as a whole:
//       memory holds one chunk at a time, and the backend knows the length.
//   B3  Nothing is public: the ledger knows who owns an asset, and callers are authorized there before they read here.
//   B4  Callers who read slowly hold what they read. Their number is limited, per project and in total, and in a bucket
//       they use separate connections.
//   B5  Temporary files together are at most `transitBytes`, those of one project at most half of that. Their room is
//       taken before a byte is read, and given back when the file is removed.

export type { ByteRange, StoredAsset } from './blob-backend.ts'

export interface AssetStore {
  /**
   * Takes room for a temporary file, before the bytes are asked for (B5).
   * @throws Refusal `overloaded`; the signal's reason
   */
  makeRoom(project: string, maxBytes: number, signal?: AbortSignal): Promise<Room>
  /**
   * Makes room and stores a stream of bytes under a new id. Reads none of them if there is no room.
   * @throws as `makeRoom` and `Room.put`
   */
  put(
    project: string,
    asset: string,
    bytes: AsyncIterable<Uint8Array>,
    limits: { maxBytes: number },
  ): Promise<StoredAsset>
  /**
   * Reads the bytes at full speed, into memory.
   * @throws AssetMissing; AssetStoreUnavailable, also if the store breaks off in the middle
   */
  readWhole(project: string, asset: string): Promise<Buffer>
  /**
   * Opens the bytes, or a part of them, for a caller, who may read slowly (B4).
   * @throws Refusal `overloaded`; AssetMissing, AssetStoreUnavailable
   */
  openForCaller(project: string, asset: string, range?: ByteRange): Promise<Readable>
  /** Removes what was stored; ignores a missing asset. */
  remove(project: string, asset: string): Promise<void>
  /**
   * Lists what is stored, in pages of at most 1,000. Skips what is not named by ids (B1).
   * @throws AssetStoreUnavailable, also if the store may be read but not listed
   */
  list(): AsyncIterable<StoredName[]>
  close(): Promise<void>
}

/** The ids under which bytes are stored. */
export interface StoredName {
  project: string
  id: string
}

export interface Room {
  /**
   * Stores a stream of bytes under a new id. Keeps nothing of a failed stream.
   * @throws AssetTooLarge, AssetTypeUnknown
   * @throws AssetStoreUnavailable if the store cannot be written
   * @throws any error of the stream
   */
  put(asset: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredAsset>
  /** Idempotent. */
  giveBack(): void
}

/** Attempts to store the same bytes in a remote store. */
const TRIES = 3
const BACK_OFF: BackOffLimits = { firstMs: 100, maxMs: 1_000 }

const TROUBLE_EVERY_MS = 10_000

/**
 * Opens the store: a bucket if one is configured, else a folder.
 * @param onTrouble called with a failure of a read or a store, at most every 10 s
 */
export async function openAssetStore(
  settings: AssetStoreSettings,
  metrics: AssetMetrics = unmeasured,
  onTrouble: (error: AssetStoreUnavailable) => void = () => {},
): Promise<AssetStore> {
  const report = atMostEvery(TROUBLE_EVERY_MS, onTrouble)
  const limits = { ...assetLimits, ...settings.limits }
  const backend = await openBackend(settings, limits.reads)
  const temporary = openTemporaryFolder()
  const readLimit = openReadLimit(limits, () => metrics.refused('reads'))
  const transit = openByteBudget({
    maxBytes: limits.transitBytes,
    waitMs: limits.transitWaitMs,
    whenFull() {
      metrics.refused('bytes')
      return noRoom()
    },
  })
  metrics.watch({ reads: readLimit.count, bytes: transit.taken })

  async function open(project: string, asset: string, range: ByteRange | null, reader: 'caller' | 'process') {
    const key = keyOf(project, asset)
    try {
      return await backend.read(key, range, reader)
    } catch (error) {
      throw error instanceof AssetMissing ? error : unavailable(error)
    }
  }

  function unavailable(cause: unknown): AssetStoreUnavailable {
    const error = new AssetStoreUnavailable({ cause })
    report(error)
    return error
  }

  function reported(error: unknown): never {
    if (error instanceof AssetStoreUnavailable) report(error)
    throw error
  }

  async function makeRoom(project: string, maxBytes: number, signal?: AbortSignal): Promise<Room> {
    const giveBack = await transit.take(project, maxBytes, signal) // B5
    return {
      giveBack,
      async put(asset, bytes) {
        const key = keyOf(project, asset) // B1
        const file = await temporary.write(bytes, maxBytes).catch(reported) // B2
        try {
          const asset: StoredAsset = { mimeType: file.mimeType, bytes: file.bytes }
          await tryOften(() => backend.store(key, file.path, asset))
          return asset
        } catch (error) {
          throw unavailable(error)
        } finally {
          await file.remove()
        }
      },
    }
  }

  return {
    makeRoom,
    async put(project, asset, bytes, { maxBytes }) {
      const room = await makeRoom(project, maxBytes)
      try {
        return await room.put(asset, bytes)
      } finally {
        room.giveBack()
      }
    },
    async readWhole(project, asset) {
      const bytes = await open(project, asset, null, 'process')
      return buffer(bytes).catch((error: unknown) => {
        throw unavailable(error)
      })
    },
    async openForCaller(project, asset, range) {
      const leave = readLimit.enter(project) // B4
      try {
        const bytes = await open(project, asset, range ?? null, 'caller')
        finished(bytes, leave)
        return bytes
      } catch (error) {
        leave()
        throw error
      }
    },
    async remove(project, asset) {
      const key = keyOf(project, asset)
      try {
        await backend.remove(key)
      } catch (error) {
        throw new AssetStoreUnavailable({ cause: error })
      }
    },
    async *list() {
      try {
        for await (const keys of backend.list()) yield keys.flatMap((key) => nameOf(key) ?? [])
      } catch (error) {
        throw new AssetStoreUnavailable({ cause: error })
      }
    },
    async close() {
      await temporary.close()
      backend.close()
    },
  }
}

async function openBackend(settings: AssetStoreSettings, maxCallers: number): Promise<BlobBackend> {
  if (settings.bucket === null) return openLocalBackend(settings.folder)
  const { openBucketBackend } = await import('./blob-backend.ts') // the SDK is large, and most stacks don't need it
  return openBucketBackend(settings.bucket, maxCallers)
}

function noRoom(): Refusal {
  return new Refusal(
    'overloaded',
    'Too many bytes are on their way into the asset store.',
    'Retry after Retry-After seconds, and upload fewer files of the project at the same time.',
  )
}

async function tryOften(store: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await store()
    } catch (error) {
      if (tries === TRIES) throw error
      await delay(backOffMs(tries, BACK_OFF))
    }
  }
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/**
 * `<project>/<asset id>`. Without dots and slashes in either, a key cannot lead out of the project's folder.
 * @throws RangeError for anything that is not an id
 */
function keyOf(project: string, asset: string): string {
  if (!ID.test(project) || !ID.test(asset))
    throw new RangeError('an asset is named by the ids of its project and its own')
  return `${project}/${asset}`
}

/** Inverse of `keyOf`. null: it is not one of its keys. */
function nameOf(key: string): StoredName | null {
  const [project = '', id = '', ...more] = key.split('/')
  return ID.test(project) && ID.test(id) && more.length === 0 ? { project, id } : null
}

/** A folder of this machine, or one that all processes mount. Only its owner has access. */
export async function openLocalBackend(folder: string): Promise<BlobBackend> {
  const root = path.resolve(folder)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const disk = new Disk(new FSDriver({ location: root, visibility: 'private' }))

  return {
    store: (key, file) => disk.copyFromFs(file, key),
    // The library can only read a whole file.
    async read(key, range) {
      const file = await open(path.join(root, key)).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new AssetMissing({ cause: error }) : error
      })
      return file.createReadStream(range ? { start: range.first, end: range.last } : {})
    },
    remove: (key) => disk.delete(key),
    // The library reads a whole folder into memory.
    async *list() {
      let page: string[] = []
      for await (const project of await opendir(root)) {
        if (!project.isDirectory() || !ID.test(project.name)) continue // such as lost+found, which may not be readable
        for await (const asset of await opendir(path.join(root, project.name))) {
          if (asset.isFile()) page.push(`${project.name}/${asset.name}`)
          if (page.length < LISTED_KEYS) continue
          yield page
          page = []
        }
      }
      if (page.length > 0) yield page
    },
    close() {},
  }
}

/** Metrics of a service that stores or reads assets. */
export interface AssetMetrics {
  /** A refusal because a limit was reached. */
  refused(limit: 'reads' | 'bytes'): void
  watch(state: { reads: () => number; bytes: () => number }): void
}

const unmeasured: AssetMetrics = { refused() {}, watch() {} }

/** @param service prefix of the names */
export function openAssetMetrics(meter: Telemetry['meter'], service: string): AssetMetrics {
  const refusals = meter.createCounter(`${service}.assets.refused`, {
    description: 'Reads and uploads of assets refused because of a limit, by limit',
    unit: '{refusal}',
  })
  const reads = meter.createObservableGauge(`${service}.assets.reads.open`, {
    description: 'Assets being read by callers',
    unit: '{read}',
  })
  const bytes = meter.createObservableGauge(`${service}.assets.transit`, {
    description: 'Bytes of assets being stored, which are files in the temporary folder until then',
    unit: 'By',
  })
  return {
    refused: (limit) => refusals.add(1, { limit }),
    watch(state) {
      reads.addCallback((gauge) => gauge.observe(state.reads()))
      bytes.addCallback((gauge) => gauge.observe(state.bytes()))
    },
  }
}
