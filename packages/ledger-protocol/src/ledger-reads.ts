import type { CaptureRules } from './captured-content.ts'
import type { RateLimits } from '@gateway/api/rates'
import { z } from 'zod'
import { serviceTag } from '@gateway/api/service-tag'
import type { InvocationRecord } from '@gateway/api/console/money'
import { noticeDetails } from '@gateway/api/console/notices'
import type { KeyStatus } from '@gateway/api/key-status'
import type { LedgerRefusal, Refused } from './ledger-refusal.ts'
import type { ModelEntry } from '@gateway/api/model-entry'
import { promptSize } from '@gateway/pricing/usage'

// Requests and responses of the ledger's operations on keys, instances and money (ledger-operations.ts).

const keyHash = z.string().regex(/^[0-9a-f]{64}$/)
/** A caller with a key: its secret's hash, and the project that the caller names, to be compared. */
export const callerQuestion = z.strictObject({
  keyHash,
  selector: z.string().max(512).nullable(),
})
export type CallerQuestion = z.infer<typeof callerQuestion>

/** POST /models: what the key can call now, embedding models or, by default, chat models. */
export const modelsQuestion = callerQuestion.extend({ kind: z.literal('embedding').optional() })
export type ModelsQuestion = z.infer<typeof modelsQuestion>
export type ModelsAnswer = { entries: ModelEntry[] } | Refused

/** POST /keys/identify: the project of each key, before anything of its caller's request is read (rules §2.3). */
export const MAX_IDENTIFIED_KEYS = 256
export const keysQuestion = z.strictObject({ keyHashes: z.array(keyHash).min(1).max(MAX_IDENTIFIED_KEYS) })
export type KeysQuestion = z.infer<typeof keysQuestion>
/** In the order of the question. A key whose creator may no longer issue it is identified: that is refused later. */
export interface KeysAnswer {
  keys: (IdentifiedKey | Refused)[]
}
export interface IdentifiedKey {
  key: string
  /** Of the key and its replacements, which share their rate limits. */
  lineage: string
  project: string
  rates: { key: RateLimits; project: RateLimits }
  /** null if the project does not capture prompts and answers. */
  capture: CaptureRules | null
}

/** POST /keys/read: a `callerQuestion`; what the key is and has left. */
export type KeyAnswer = { key: KeyStatus } | Refused

/** POST /invocations/read: a call of the key, or of one of its lineage. */
export const invocationQuestion = callerQuestion.extend({ invocation: z.string().max(256) })
export type InvocationQuestion = z.infer<typeof invocationQuestion>
export type InvocationAnswer = { record: InvocationRecord } | Refused

/**
 * POST /keys/check: whether a call like this would be admitted now. `key` is the id of a key, sent by the console,
 * which has checked that its user may know.
 */
export const checkQuestion = z.strictObject({
  caller: z.union([callerQuestion, z.strictObject({ key: z.string().min(1).max(64) })]),
  /** That the call names; null or absent: none. */
  tag: serviceTag.nullish(),
  model: z.string().min(1).max(256),
  parameters: z.array(z.string().min(1).max(64)).max(32),
  promptSize,
})
export type CheckQuestion = z.infer<typeof checkQuestion>
export interface CheckedAdmission {
  /** null: it would be admitted. */
  refusal: LedgerRefusal | null
  /** What it would reserve; null if it was refused before that was known. */
  boundMicro: number | null
  outputCap: number | null
}

/** Services that may call the ledger. */
export const serviceName = z.enum(['gateway', 'worker', 'console'])
export type ServiceName = z.infer<typeof serviceName>

/**
 * POST /instances/heartbeat: registers an instance and keeps it alive. Returns `{ alive: false }` once it was declared
 * dead.
 */
export const heartbeat = z.strictObject({
  instance: z.string().min(1).max(64),
  service: serviceName,
  deadAfterMs: z.int().min(1000).max(60_000),
})
export type Heartbeat = z.infer<typeof heartbeat>

/** Topic of the notifier on which an instance sends signs of life while its heartbeats reach no ledger. */
export const aliveTopic = (instance: string) => `alive:${instance}`

/** POST /instances/end: the instance has stopped in order; what it has reserved is released at once. */
export const endInstance = z.strictObject({ instance: z.string().min(1).max(64) })

/** POST /fundings: funds a wallet, once per funding id. Returns `{ fresh, micro }`. */
export const funding = z.strictObject({
  project: z.string().min(1).max(64),
  fundingId: z.string().min(1).max(128),
  micro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  fundedBy: z.string().min(1).max(64),
})
export type Funding = z.infer<typeof funding>

/** POST /corrections: adjusts a balance that was credited or debited wrongly, once per correction id (money §5.4). */
export const correction = z.strictObject({
  project: z.string().min(1).max(64),
  correctionId: z.string().min(1).max(128),
  /** Negative debits the wallet. */
  micro: z.int().refine((micro) => micro !== 0),
  reason: z.string().min(1).max(500),
  correctedBy: z.string().min(1).max(64),
})
export type Correction = z.infer<typeof correction>
export type CorrectionAnswer =
  /** What is recorded under the id. `fresh`: it was done now. */
  | { kind: 'corrected'; fresh: boolean; micro: number; reason: string }
  /** It would take more than is available. */
  | { kind: 'short'; availableMicro: number; reservedMicro: number }

/**
 * POST /notices/thresholds: what the users of a project are notified of (money §10). Replaces the previous thresholds.
 */
export const thresholdsRequest = z.strictObject({
  project: z.string().min(1).max(64),
  belowMicro: z.array(z.int().min(1).max(Number.MAX_SAFE_INTEGER)).max(100),
  daysLeft: z.int().min(1).max(365).nullable(),
  keyPercents: z.array(z.int().min(1).max(100)).max(100),
})
export type ThresholdsRequest = z.infer<typeof thresholdsRequest>

/**
 * POST /budgets/set: sets the monthly budget of a user, team or tag of an organization (money §6.4). `id` is that of a
 * new one.
 */
export const budgetRequest = z.strictObject({
  id: z.string().min(1).max(64),
  tenant: z.string().min(1).max(64),
  kind: z.enum(['user', 'team', 'tag']),
  subject: z.string().min(1).max(64),
  limitMicro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  /** Whether calls beyond it are refused; otherwise it is only reported. */
  hard: z.boolean(),
  createdBy: z.string().min(1).max(64),
})
export type BudgetRequest = z.infer<typeof budgetRequest>

/** POST /budgets/remove */
export const removedBudget = budgetRequest.pick({ id: true, tenant: true })
export type RemovedBudget = z.infer<typeof removedBudget>

const destination = {
  id: z.string().min(1).max(64),
  project: z.string().min(1).max(64),
  createdBy: z.string().min(1).max(64),
}
/** POST /webhooks/create: sends notices of the project to this destination from now on. Safe to repeat by its id. */
export const webhookRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    ...destination,
    kind: z.enum(['standard', 'slack']),
    url: z.string().min(1).max(2048),
    /** The caller has looked up the host, and all of its addresses are public. */
    hostChecked: z.literal(true).optional(),
  }),
  /** `recipient` null: the Project Owners at that time. */
  z.strictObject({ ...destination, kind: z.literal('email'), recipient: z.string().min(1).max(64).nullable() }),
])
export type WebhookRequest = z.infer<typeof webhookRequest>
export type WebhookAnswer =
  /** `secret` null: what the destination gets is not signed. */
  | { kind: 'made'; secret: string | null }
  /**
   * `off`: the operator has configured no key to derive secrets from; `host_unchecked`: look up the host, and ask again
   * with `hostChecked`.
   */
  | { kind: 'refused'; why: 'off' | 'too_often' | 'not_https' | 'private' | 'host_unchecked' }
  | Refused

/**
 * POST /webhooks/rotate: another secret signs from now on, and the earlier ones for `graceSeconds` as well. Safe to
 * repeat: `generation` is the number of the secret that is replaced.
 */
export const webhookRotation = z.strictObject({
  id: z.string().min(1).max(128),
  project: z.string().min(1).max(64),
  generation: z.int().min(1),
  /** null: as long as the operator allows. */
  graceSeconds: z.int().min(0).max(86_400).nullable(),
})
export type WebhookRotation = z.infer<typeof webhookRotation>
export type WebhookRotationAnswer =
  | { kind: 'rotated'; secret: string }
  /** `too_many`: as many earlier secrets sign as may; `moved`: it was rotated since. */
  | { kind: 'refused'; why: 'off' | 'not_found' | 'too_many' | 'moved' }

/** POST /webhooks/test: writes a test notice for one webhook. Safe to repeat by the id of the notice. */
export const webhookTest = z.strictObject({
  notice: z.string().min(1).max(64),
  webhook: z.string().min(1).max(128),
  project: z.string().min(1).max(64),
})
export type WebhookTest = z.infer<typeof webhookTest>
/** POST /webhooks/deliveries/resend: makes a delivery due now, with all its tries. */
export const resending = webhookTest.extend({ notice: z.string().min(1).max(128) })
export type SendAnswer = { kind: 'sent' } | { kind: 'refused'; why: 'not_found' | 'too_often' }

/** POST /notices/write: writes notices of what happened to keys and tokens. Safe to repeat by their ids. */
export const eventNotices = z.strictObject({
  notices: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        project: z.string().min(1).max(64),
        kind: z.enum(['key.rotated', 'key.leaked', 'token.leaked']),
        key: z.string().min(1).max(64).nullable(),
        details: noticeDetails,
        at: z.iso.datetime(),
      }),
    )
    .max(100),
})
export type EventNotices = z.infer<typeof eventNotices>

/**
 * POST /webhooks/deliveries/take: takes due deliveries, to be posted once each (money §10.2). One whose outcome is not
 * recorded is due again a little later than a post may last.
 */
export const deliveriesQuestion = z.strictObject({
  /** Maximum number of deliveries. */
  places: z.int().min(1).max(1_000),
  /** The webhook of each post that the caller has under way. */
  underWay: z.array(z.string().min(1).max(64)).max(1_000),
})
export type DeliveriesQuestion = z.infer<typeof deliveriesQuestion>
export interface TakenDelivery {
  notice: string
  webhook: string
  /** Including this one. */
  tries: number
  url: string
  /** With the signature. */
  headers: Record<string, string>
  body: string
  /** Whether private addresses and http are allowed. */
  privateAddresses: boolean
}

/** Time limit of a post, including the look-up of its host. */
export const POST_MS = 8_000

/** POST /webhooks/mails/take: like `deliveriesQuestion`, deliveries by mail. */
export const mailsQuestion = z.strictObject({})
export interface TakenMail {
  notice: string
  webhook: string
  /** Including this one. */
  tries: number
  project: string
  /** A user; null: the Project Owners. */
  recipient: string | null
  subject: string
  lines: string[]
}

/** The result of a post or mail: a status, that the mail server took it, or why not. */
const posted = z.union([
  z.strictObject({ status: z.int().min(0).max(999) }),
  z.strictObject({ mailed: z.literal(true) }),
  z.strictObject({
    error: z.enum(['not_https', 'private', 'unknown_host', 'timeout', 'unreachable', 'not_mailed', 'no_recipient']),
  }),
])
export type Posted = z.infer<typeof posted>

/** POST /webhooks/deliveries/record: what came of deliveries that were taken. Safe to repeat. */
export const deliveryRecords = z.strictObject({
  deliveries: z
    .array(
      z.strictObject({
        notice: z.string().min(1).max(64),
        webhook: z.string().min(1).max(64),
        tries: z.int().min(1),
        posted,
      }),
    )
    .max(1_000),
})
export type DeliveryRecord = z.infer<typeof deliveryRecords>['deliveries'][number]
/** Deliveries by outcome. */
export interface DeliveryCounts {
  delivered: number
  failed: number
  dead: number
}

/** POST /barrier: returns once no admission that read older facts can still be under way (architecture §M2). */
export const barrier = z.strictObject({ projects: z.array(z.string().min(1).max(64)).min(1).max(10_000) })

/**
 * POST /wallets/read: `{ fundedMicro, reservedMicro, settledMicro, availableMicro }`, zeros for a project without a
 * wallet.
 */
export const walletQuestion = z.strictObject({ project: z.string().min(1).max(64) })
export interface WalletAnswer {
  fundedMicro: number
  reservedMicro: number
  settledMicro: number
  availableMicro: number
}
