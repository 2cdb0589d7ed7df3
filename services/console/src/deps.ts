import type { AssetStore } from '@gateway/assets/asset-store'
import type { Database } from '@gateway/database/client'
import type { NewId } from '@gateway/api/ids'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Metrics } from './metrics.ts'
import type { Passwords } from './sign-in/password.ts'
import type { SignInProvider } from './sign-in/provider/sign-in-provider.ts'
import type { Throttle } from './sign-in/throttle.ts'

/** What the console has that is not a plain function, made once in start.ts; each function takes what it uses. */
export interface ConsoleDeps {
  prisma: Database['prisma']
  ledger: Pick<
    LedgerClient,
    | 'fund'
    | 'correct'
    | 'barrier'
    | 'wallet'
    | 'setThresholds'
    | 'startExecution'
    | 'followExecution'
    | 'readExecution'
    | 'cancelExecution'
    | 'rerunExecution'
    | 'estimateSandbox'
    | 'recordAsset'
    | 'deleteAsset'
    | 'assetsToRemove'
    | 'assetsRemoved'
    | 'checkAdmission'
    | 'createWebhook'
    | 'deleteWebhook'
  >
  assetStore: Pick<AssetStore, 'open' | 'put' | 'remove'>
  throttle: Throttle
  passwords: Passwords
  /** Absent: users sign in by password only. */
  provider?: SignInProvider | undefined
  /** Where browsers find the service, without a path; absent: wherever they came to. */
  publicUrl?: string | undefined
  /** Where the trace of a call is, with `{invocation}`; absent: no one is led there. */
  traceUrl?: string | undefined
  /** Makes a new id, such as `key_…`. */
  newId: NewId
  /** This many bytes of a cryptographic source. */
  random: (bytes: number) => Uint8Array<ArrayBuffer>
  now: () => Date
  log: Logger
  metrics: Metrics
  readiness: Readiness
  /** Aborts when stopping begins. */
  stopping: AbortSignal
}
