import type { ContentKeys } from '@gateway/capture/content-keys'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { Database } from '@gateway/database/client'
import type { QuotaValues } from '@gateway/api/quotas'
import type { NewId } from '@gateway/api/ids'
import type { Estimator } from '@gateway/ledger-client/estimator'
import type { FollowAnswer, FollowQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { OperationsOf } from '@gateway/ledger-protocol/ledger-operations'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { LeakReports } from './keys/leak-reports.ts'
import type { Readiness } from '@gateway/service-kit/process/open-service'
import type { Mails } from './mail/mails.ts'
import type { Metrics } from './metrics.ts'
import type { RequestLimits } from './request/request-limits.ts'
import type { Passwords } from './sign-in/password.ts'
import type { SignInProvider } from './sign-in/provider/sign-in-provider.ts'
import type { SecretBox } from './sign-in/secret-box.ts'
import type { Throttle } from './sign-in/throttle/throttle.ts'

/** Dependencies of the console, created once in start.ts. Each function takes the ones it uses. */
export interface ConsoleDeps {
  prisma: Database['prisma']
  /** Connections for revocations alone, so that no other request delays them. handlers.ts passes them as `prisma`. */
  revocationPrisma: Database['prisma']
  requestLimits: RequestLimits
  followerLooks: FollowerLooks
  ledger: Pick<LedgerClient, OperationsOf<'console'>>
  estimator: Pick<Estimator, 'estimate'>
  /** The operator's defaults (`QUOTAS`). */
  quotas: QuotaValues
  assetStore: Pick<AssetStore, 'openForCaller' | 'put' | 'remove' | 'list'>
  /** How long after its appointment by an Admin a new owner of a project becomes one. */
  appointmentDelayMs: number
  throttle: Throttle
  leakReports: LeakReports
  mails: Mails
  passwords: Passwords
  sessionLimits: SessionLimits
  /** Encrypts the secrets of second factors. */
  secretBox: SecretBox
  /** Opens captured content. null: no project can capture. */
  contentKeys: ContentKeys | null
  /** Absent: users sign in by password only. */
  provider?: SignInProvider | undefined
  /** URL at which browsers reach the service, without a path. Absent: the host of the request. */
  publicUrl?: string | undefined
  /** URL of the trace of a call, with a placeholder `{invocation}`. Absent: no links to traces. */
  traceUrl?: string | undefined
  /** Generates a new ID, such as `key_…`. */
  newId: NewId
  /** Returns cryptographically random bytes. */
  random: (bytes: number) => Uint8Array<ArrayBuffer>
  now: () => Date
  log: Logger
  metrics: Metrics
  readiness: Readiness
  /** Aborts when shutdown starts. */
  stopping: AbortSignal
}

/** How long sessions last. */
export interface SessionLimits {
  /** Since the last use. */
  idleMs: number
  /** However often it is used. */
  maxMs: number
}

/** executions/follow-execution.ts */
export interface FollowerLooks {
  /** @throws LedgerUnavailable */
  progress(question: Required<Omit<FollowQuestion, 'caller'>>): Promise<FollowAnswer>
  /**
   * Whether a reader may use the sandbox products of a project now.
   * @throws Refusal `session_missing`, `token_invalid`
   */
  mayUseSandboxes(reader: Reader): Promise<boolean>
}

/** Reader of an execution, with the bearer token or session that it sent. */
export interface Reader {
  /** null: it sent neither. */
  secret: string | null
  isBearer: boolean
  tenant: string
  project: string
}
