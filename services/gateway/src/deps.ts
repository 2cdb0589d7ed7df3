import type { ByteBudget } from '@gateway/service-kit/async/byte-budget'
import type { ContentRecorder } from '@gateway/capture/content-recorder'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { Estimator } from '@gateway/ledger-client/estimator'
import type { Instance } from '@gateway/ledger-client/instance'
import type { FollowAnswer, FollowQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Readiness } from '@gateway/service-kit/process/open-service'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { Providers } from '@gateway/providers/open-providers'
import type { CountUsage } from '@gateway/tokens/counted-usage'
import type { CountTokens } from '@gateway/tokens/token-counter'
import type { CountExactly } from '@gateway/tokens/exact-count'
import type { ConcurrencyLimiter } from '@gateway/service-kit/http/caller-permits'
import type { AdmissionQueueLimit, FollowerLimiter, OpenCalls } from './admission/limits.ts'
import type { Rates } from './rates/rates.ts'
import type { KeyGate } from './admission/key-gate.ts'
import type { RunningCalls } from './admission/running-calls.ts'
import type { EndingWatch } from './executions/ending-watch.ts'
import type { ConsoleProxy } from './console-proxy.ts'
import type { NewId } from '@gateway/api/ids'
import type { Metrics } from './metrics.ts'
import type { RefusalReporter } from './refusals/refusal-reporter.ts'

/**
 * Everything with state or configuration. `start.ts` creates each member once, in order. Functions are imported, and
 * each takes only the members it uses.
 */
export interface Deps {
  ledger: LedgerClient
  /** This process as registered with the ledger. Reservations belong to it. */
  instance: Pick<Instance, 'id' | 'renew'>
  notifier: Pick<Notifier, 'notify' | 'subscribe' | 'receive'>
  endings: EndingWatch
  /** The ledger's `followExecution`, shared by the followers of a key that ask the same at the same time. */
  lookAtProgress: (question: FollowQuestion) => Promise<FollowAnswer>
  providers: Pick<Providers, 'chat' | 'embed'>
  assetStore: Pick<AssetStore, 'readWhole' | 'openForCaller' | 'put' | 'remove'>
  /** Memory budget for the images and files of all calls. */
  imageMemory: Pick<ByteBudget, 'take'>
  /** Memory budget for the vectors of all calls. */
  embeddingMemory: Pick<ByteBudget, 'take' | 'maxBytes'>
  countUsage: CountUsage
  countTokens: CountTokens
  /** Counts prompts of different projects in turn. */
  countExactly: CountExactly
  estimator: Pick<Estimator, 'estimate'>
  /** null if no console is configured; its paths are then not served. */
  consoleProxy: ConsoleProxy | null

  keyGate: KeyGate
  concurrencyLimiter: ConcurrencyLimiter
  /** Permits of requests that cancel an execution. */
  cancellationLimiter: ConcurrencyLimiter
  /** Permits of followers, by key. */
  followerLimiter: FollowerLimiter
  admissionQueueLimit: AdmissionQueueLimit
  rates: Rates
  refusals: RefusalReporter
  runningCalls: RunningCalls
  openCalls: OpenCalls

  newId: NewId
  /** Unix milliseconds. */
  now: () => number
  /** Monotonic milliseconds. */
  monotonicNow: () => number

  log: Logger
  metrics: Metrics
  readiness: Pick<Readiness, 'live' | 'ready'>
  /** Captures prompts and answers of the projects that want it. */
  contentRecorder: Pick<ContentRecorder, 'record'>
  /** Whether traces include prompts and responses. */
  traceContent: boolean
  /** Hosts whose web pages can call MCP, in addition to pages on this machine. */
  mcpHosts: string[]
}
