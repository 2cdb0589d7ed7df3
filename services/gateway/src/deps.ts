import type { ByteBudget } from '@gateway/service-kit/async/byte-budget'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { Providers } from '@gateway/providers/open-providers'
import type { CountUsage } from '@gateway/tokens/counted-usage'
import type { CountExactly } from '@gateway/tokens/exact-count'
import type { AdmissionQueueLimit, ConcurrencyLimiter, OpenCalls, Rates } from './admission/limits.ts'
import type { RunningCalls } from './admission/running-calls.ts'
import type { EndingWatch } from './executions/ending-watch.ts'
import type { ConsoleProxy } from './console-proxy.ts'
import type { NewId } from '@gateway/api/ids'
import type { Metrics } from './metrics.ts'
import type { RefusalReporter } from './refusals/refusal-reporter.ts'

/**
 * What has state or is configured. `start.ts` makes each of it once, in order. Functions of ours are imported; each
 * takes the part of this that it uses.
 */
export interface Deps {
  ledger: LedgerClient
  /** This process on the ledger's books, in whose name reservations are made. */
  instance: Pick<Instance, 'id' | 'renew'>
  notifier: Pick<Notifier, 'notify' | 'subscribe'>
  endings: EndingWatch
  providers: Pick<Providers, 'chat'>
  assetStore: Pick<AssetStore, 'open' | 'put' | 'remove'>
  /** What all calls together have in memory of images. */
  imageMemory: Pick<ByteBudget, 'take'>
  countUsage: CountUsage
  /** Projects take turns at it. */
  countExactly: CountExactly
  /** null: no console is configured, and its paths are not served. */
  consoleProxy: ConsoleProxy | null

  concurrencyLimiter: ConcurrencyLimiter
  admissionQueueLimit: AdmissionQueueLimit
  rates: Rates
  refusals: RefusalReporter
  runningCalls: RunningCalls
  openCalls: OpenCalls
  /** Aborts when this process begins to stop. Calls then still have time: see `openCalls.cancellation`. */
  stopping: AbortSignal

  newId: NewId
  /** Unix milliseconds. */
  now: () => number
  /** Milliseconds of a clock that only goes forward. */
  monotonicNow: () => number

  log: Logger
  metrics: Metrics
  readiness: Pick<Readiness, 'live' | 'ready'>
  /** Whether prompts and answers get into traces. */
  traceContent: boolean
  /** Host names whose pages in a browser may call MCP, in addition to those of this machine. */
  mcpHosts: string[]
}
