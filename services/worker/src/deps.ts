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
import type { CaptureNode } from './capture/capture-node.ts'
import type { Metrics } from './metrics.ts'
import type { FreeNodes } from './perform/free-nodes.ts'
import type { ReadyNodes } from './run/ready-nodes.ts'

/** Dependencies with one instance per worker, created in open-deps.ts. Each function takes the ones it uses. */
export interface Deps {
  ledger: LedgerClient
  instance: Pick<Instance, 'id' | 'renew' | 'silent' | 'onSilence'>
  notifier: Pick<Notifier, 'subscribe'>
  providers: Pick<Providers, 'chat' | 'media'>
  assets: Pick<AssetStore, 'readWhole' | 'makeRoom' | 'remove'>
  /** Limits the image bytes in memory across all nodes. */
  imageMemory: Pick<ByteBudget, 'take'>
  freeNodes: Pick<FreeNodes, 'run'>
  readyNodes: ReadyNodes
  countUsage: CountUsage
  countExactly: CountExactly
  newId: NewId
  /** Returns 32 random hex digits. */
  newLease: () => string
  metrics: Metrics
  log: Pick<Logger, 'warn' | 'error'>
  /** Monotonic milliseconds. */
  now: () => number
  captureNode: CaptureNode
  /** Whether traces include prompts and responses. */
  traceContent: boolean
}
