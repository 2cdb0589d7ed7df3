import type { ByteBudget } from '@gateway/service-kit/async/byte-budget'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { NewId } from '@gateway/api/ids'
import type { Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { Providers } from '@gateway/providers/open-providers'
import type { CountUsage } from '@gateway/tokens/counted-usage'
import type { CountExactly } from '@gateway/tokens/exact-count'
import type { Metrics } from './metrics.ts'

/** What the worker has one of, made in open-deps.ts. Functions of ours are imported; each takes what it uses of this. */
export interface Deps {
  ledger: LedgerClient
  instance: Pick<Instance, 'id' | 'renew' | 'silent' | 'onSilence'>
  notifier: Pick<Notifier, 'subscribe'>
  providers: Pick<Providers, 'chat' | 'media'>
  assets: Pick<AssetStore, 'open' | 'put' | 'remove'>
  /** What all nodes together have in memory of images. */
  imageMemory: Pick<ByteBudget, 'take'>
  countUsage: CountUsage
  countExactly: CountExactly
  newId: NewId
  /** 32 hex digits, random. */
  newLease: () => string
  metrics: Metrics
  log: Pick<Logger, 'warn' | 'error'>
  /** Monotonic milliseconds. */
  now: () => number
  /** Whether prompts and answers get into traces. */
  traceContent: boolean
}
