import { z } from 'zod'
import type { InvocationRecord } from '@gateway/api/console/money'
import type { KeyStatus } from '@gateway/api/key-status'
import type { LedgerRefusal, Refused } from './ledger-refusal.ts'
import type { ModelEntry } from '@gateway/api/model-entry'
import { promptSize } from '@gateway/pricing/usage'

// Requests and responses of the ledger's operations on keys, instances and money (ledger-operations.ts).

/** What is asked on behalf of a key: its secret's hash, and the project that the caller names, to be compared. */
export const callerQuestion = z.strictObject({
  keyHash: z.string().regex(/^[0-9a-f]{64}$/),
  selector: z.string().max(512).nullable(),
})
export type CallerQuestion = z.infer<typeof callerQuestion>

/** POST /models: a `callerQuestion`; what the key can call now. */
export type ModelsAnswer = { entries: ModelEntry[] } | Refused

/** POST /keys/read: a `callerQuestion`; what the key is and has left. */
export type KeyAnswer = { key: KeyStatus } | Refused

/** POST /invocations/read: a call of the key, or of one of its lineage. */
export const invocationQuestion = callerQuestion.extend({ invocation: z.string().max(256) })
export type InvocationQuestion = z.infer<typeof invocationQuestion>
export type InvocationAnswer = { record: InvocationRecord } | Refused

/**
 * POST /keys/check: whether a call like this would be admitted now. `key` is a key's id: of the console, which has checked that its
 * user may know.
 */
export const checkQuestion = z.strictObject({
  caller: z.union([callerQuestion, z.strictObject({ key: z.string().min(1).max(64) })]),
  model: z.string().min(1).max(256),
  parameters: z.array(z.string().min(1).max(64)).max(32),
  promptSize,
})
export type CheckQuestion = z.infer<typeof checkQuestion>
export interface CheckedAdmission {
  /** null: it would be admitted. */
  refusal: LedgerRefusal | null
  /** What it would reserve; null: it was refused before that was known. */
  boundMicro: number | null
  outputCap: number | null
}

/** Anyone who calls the ledger. */
export const serviceName = z.enum(['gateway', 'worker', 'console'])
export type ServiceName = z.infer<typeof serviceName>

/** POST /instances/heartbeat: registers an instance, and keeps it alive. Answers `{ alive: false }` once it was declared dead. */
export const heartbeat = z.strictObject({
  instance: z.string().min(1).max(64),
  service: serviceName,
  deadAfterMs: z.int().min(1000).max(60_000),
})
export type Heartbeat = z.infer<typeof heartbeat>

/** By this topic of the notifier an instance says that it lives while its heartbeats find no ledger. */
export const aliveTopic = (instance: string) => `alive:${instance}`

/** POST /instances/end: the instance has stopped in order; what it still holds is released at once. */
export const endInstance = z.strictObject({ instance: z.string().min(1).max(64) })

/** POST /fundings: money comes in, once per funding id. Answers `{ fresh, micro }`. */
export const funding = z.strictObject({
  project: z.string().min(1).max(64),
  fundingId: z.string().min(1).max(128),
  micro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  fundedBy: z.string().min(1).max(64),
})
export type Funding = z.infer<typeof funding>

/** POST /corrections: money that came in or was taken wrongly is put right, once per correction id (money §5.4). */
export const correction = z.strictObject({
  project: z.string().min(1).max(64),
  correctionId: z.string().min(1).max(128),
  /** Less than 0 takes money out. */
  micro: z.int().refine((micro) => micro !== 0),
  reason: z.string().min(1).max(500),
  correctedBy: z.string().min(1).max(64),
})
export type Correction = z.infer<typeof correction>
export type CorrectionAnswer =
  /** What is under the id. `fresh`: it was done now. */
  | { kind: 'corrected'; fresh: boolean; micro: number; reason: string }
  /** It would take more than is available. */
  | { kind: 'short'; availableMicro: number; reservedMicro: number }

/** POST /notices/thresholds: what the users of a project want to learn of (money §10). It replaces what was set. */
export const thresholdsRequest = z.strictObject({
  project: z.string().min(1).max(64),
  belowMicro: z.array(z.int().min(1).max(Number.MAX_SAFE_INTEGER)).max(100),
  daysLeft: z.int().min(1).max(365).nullable(),
  keyPercents: z.array(z.int().min(1).max(100)).max(100),
})
export type ThresholdsRequest = z.infer<typeof thresholdsRequest>

/** POST /webhooks/create: notices of the project are posted to this address from now on. Safe to repeat by its id. */
export const webhookRequest = z.strictObject({
  id: z.string().min(1).max(64),
  project: z.string().min(1).max(64),
  url: z.string().min(1).max(2048),
  createdBy: z.string().min(1).max(64),
})
export type WebhookRequest = z.infer<typeof webhookRequest>
export type WebhookAnswer =
  | { kind: 'made'; secret: string }
  /** `off`: the operator has set no key to make secrets with. */
  | { kind: 'refused'; why: 'off' | 'too_many' | 'not_https' | 'private' | 'unknown_host' }

/** POST /webhooks/delete: nothing is posted to it anymore. Answers `{ deleted }`. */
export const webhookDeletion = z.strictObject({ id: z.string().min(1).max(128), project: z.string().min(1).max(64) })

/** POST /barrier: answers once no admission that read older facts can still be under way (architecture §M2). */
export const barrier = z.strictObject({ projects: z.array(z.string().min(1).max(64)).min(1).max(10_000) })

/** POST /wallets/read: `{ fundedMicro, reservedMicro, settledMicro, availableMicro }`, zeros for a project without a wallet. */
export const walletQuestion = z.strictObject({ project: z.string().min(1).max(64) })
export interface WalletAnswer {
  fundedMicro: number
  reservedMicro: number
  settledMicro: number
  availableMicro: number
}
