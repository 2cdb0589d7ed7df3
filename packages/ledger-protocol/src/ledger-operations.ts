import type { z } from 'zod'
import type { EstimateFacts } from '@gateway/api/estimate'
import { type Refused, refusalReport } from './ledger-refusal.ts'
import {
  assetAdmission,
  assetDeletion,
  assetQuestion,
  assetRecord,
  cancelQuestion,
  assetsRemoved,
  assetsToRemove,
  endedQuestion,
  estimateQuestion,
  executionQuestion,
  followQuestion,
  attachmentQuestion,
  rerunQuestion,
  sandboxQuestion,
  startQuestion,
  usageQuestion,
  type AssetAdmissionAnswer,
  type AssetAnswer,
  type AssetRecordAnswer,
  type CancelAnswer,
  type EndedAnswer,
  type ExecutionAnswer,
  type FollowAnswer,
  type AttachmentAnswer,
  type RerunAnswer,
  type SandboxAnswer,
  type StartAnswer,
  type UsageAnswer,
} from './flow-reads.ts'
import {
  barrier,
  callerQuestion,
  modelsQuestion,
  checkQuestion,
  correction,
  deliveriesQuestion,
  deliveryRecords,
  endInstance,
  eventNotices,
  funding,
  heartbeat,
  invocationQuestion,
  mailsQuestion,
  resending,
  budgetRequest,
  removedBudget,
  thresholdsRequest,
  walletQuestion,
  type CheckedAdmission,
  webhookRequest,
  webhookRotation,
  webhookTest,
  type CorrectionAnswer,
  type DeliveryCounts,
  type InvocationAnswer,
  keysQuestion,
  type KeyAnswer,
  type KeysAnswer,
  type ModelsAnswer,
  type SendAnswer,
  type ServiceName,
  type TakenDelivery,
  type TakenMail,
  type WalletAnswer,
  type WebhookAnswer,
  type WebhookRotationAnswer,
} from './ledger-reads.ts'
import { flowLimits } from '@gateway/api/limits'
import { capturedCalls, capturedContentLimits, captureQuestion, type CaptureAnswer } from './captured-content.ts'
import { providerReport, type ProviderReportAnswer } from './provider-report.ts'

// The operations of the ledger, each a JSON object that gets one as its answer; all of them are safe to repeat.
// The client, the ledger's routes, the permissions and the traces are derived from these rows. The rows of items
// are in ledger-items.ts. A request, and the opening of a channel, has `Authorization: Bearer <service token>`.

export interface OperationRow {
  path: string
  /** The services that may call it. */
  callers: readonly ServiceName[]
  request: z.ZodType
  response: ResponseType<object>
  /** `channel`: what executions ask, many at a time on one connection (channels.ts). `request`: one HTTP request each. */
  wire: 'request' | 'channel'
  /** The span on both sides; absent for operations that are called repeatedly, such as a heartbeat. */
  span?: OperationSpan
  /** Time limit of one try that may wait for locked wallets: longer than Postgres lets it wait. */
  tryMs?: number
  /** Maximum request size, if it is not 1 MB. */
  bodyBytes?: number
  /** Why this service may not send this request, as a sentence; null: it may. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each row has its own request; `RequestOf` gives it back typed
  forbids?: (request: any, caller: ServiceName) => string | null
}

export interface OperationSpan {
  name: string
  /** Attribute that holds the `id` of the request. */
  id: string
  /** Whether the ledger begins a trace if the caller has none. */
  begins: boolean
}

/** Carries a type: the ledger creates the response, and callers do not validate it. */
export interface ResponseType<T> {
  readonly type?: T
}
const response = <T extends object>(): ResponseType<T> => ({})

const byKey = ['gateway'] as const
const byMoney = ['console'] as const
const LOCKED_MS = 6_000

const whoStores = (caller: object, service: ServiceName) =>
  'user' in caller === (service === 'console')
    ? null
    : 'The console stores assets on behalf of a user, and no one else.'

export const ledgerOperations = {
  /** What a key can call now. */
  models: {
    path: '/models',
    callers: byKey,
    request: modelsQuestion,
    response: response<ModelsAnswer>(),
    wire: 'request',
  },
  /** Which keys exist, and their projects. */
  identifyKeys: {
    path: '/keys/identify',
    callers: byKey,
    request: keysQuestion,
    response: response<KeysAnswer>(),
    wire: 'request',
  },
  /** What a key is, and what is left of its limit. */
  key: {
    path: '/keys/read',
    callers: byKey,
    request: callerQuestion,
    response: response<KeyAnswer>(),
    wire: 'request',
  },
  /** Whether a call would be admitted now; nothing is reserved. */
  checkAdmission: {
    path: '/keys/check',
    callers: ['gateway', 'console'],
    request: checkQuestion,
    response: response<CheckedAdmission>(),
    wire: 'request',
    forbids: ({ caller }: z.infer<typeof checkQuestion>, service) =>
      'key' in caller && service !== 'console' ? 'Only the console asks about a key by its id.' : null,
  },
  /** What a call of a key was charged, or what is reserved for it. */
  readInvocation: {
    path: '/invocations/read',
    callers: byKey,
    request: invocationQuestion,
    response: response<InvocationAnswer>(),
    wire: 'request',
  },
  /** Starts an execution, or returns the one of an idempotency key. Without a response it may have started. */
  startExecution: {
    path: '/executions/start',
    callers: ['gateway', 'console'],
    request: startQuestion,
    response: response<StartAnswer>(),
    wire: 'channel',
    span: { name: 'start', id: 'service.execution', begins: true },
    bodyBytes: 2 * flowLimits.bodyBytes, // what surrounds the input of an invoke, and JSON escapes
    forbids: ({ caller }: z.infer<typeof startQuestion>, service) =>
      'user' in caller && service !== 'console' ? 'Only the console begins executions on behalf of a user.' : null,
  },
  /** Starts an execution that reuses results of an earlier one. Without a response it may have started. */
  rerunExecution: {
    path: '/executions/rerun',
    callers: byMoney,
    request: rerunQuestion,
    response: response<RerunAnswer>(),
    wire: 'channel',
    span: { name: 'rerun', id: 'service.execution', begins: true },
  },
  /** The basis for estimating the maximum charge of an execution. */
  estimateSandbox: {
    path: '/sandboxes/estimate',
    callers: ['gateway', 'console'],
    request: estimateQuestion,
    response: response<EstimateFacts | Refused>(),
    wire: 'request',
    bodyBytes: 2 * flowLimits.bodyBytes, // like a start
    forbids: ({ caller }: z.infer<typeof estimateQuestion>, service) =>
      'user' in caller && service !== 'console' ? 'Only the console asks on behalf of a user.' : null,
  },
  followExecution: {
    path: '/executions/follow',
    callers: ['gateway', 'console'],
    request: followQuestion,
    response: response<FollowAnswer>(),
    wire: 'channel',
  },
  /** Which of the executions that a caller waits for have ended, in one request. */
  endedExecutions: {
    path: '/executions/ended',
    callers: byKey,
    request: endedQuestion,
    response: response<EndedAnswer>(),
    wire: 'channel',
  },
  readExecution: {
    path: '/executions/read',
    callers: ['gateway', 'console'],
    request: executionQuestion,
    response: response<ExecutionAnswer>(),
    wire: 'channel',
    forbids: ({ detailed }: z.infer<typeof executionQuestion>, service) =>
      detailed === true && service !== 'console' ? 'Only the console reads what users learn of executions.' : null,
  },
  cancelExecution: {
    path: '/executions/cancel',
    callers: ['gateway', 'console'],
    request: cancelQuestion,
    response: response<CancelAnswer>(),
    wire: 'channel',
    tryMs: LOCKED_MS,
    forbids: ({ caller }: z.infer<typeof cancelQuestion>, service) =>
      caller === null && service !== 'console' ? 'Only the console stops executions on behalf of a user.' : null,
  },
  readUsage: {
    path: '/executions/usage',
    callers: ['gateway', 'console'],
    request: usageQuestion,
    response: response<UsageAnswer>(),
    wire: 'channel',
  },
  readSandbox: {
    path: '/sandboxes/read',
    callers: byKey,
    request: sandboxQuestion,
    response: response<SandboxAnswer>(),
    wire: 'channel',
  },
  admitAsset: {
    path: '/assets/admit',
    callers: ['gateway', 'worker', 'console'],
    request: assetAdmission,
    response: response<AssetAdmissionAnswer>(),
    wire: 'channel',
    forbids: ({ caller }: z.infer<typeof assetAdmission>, service) => whoStores(caller, service),
  },
  recordAsset: {
    path: '/assets/record',
    callers: ['gateway', 'worker', 'console'],
    request: assetRecord,
    response: response<AssetRecordAnswer>(),
    wire: 'channel',
    span: { name: 'record-asset', id: 'service.asset', begins: false },
    forbids: ({ caller }: z.infer<typeof assetRecord>, service) => whoStores(caller, service),
  },
  deleteAsset: {
    path: '/assets/delete',
    callers: byMoney,
    request: assetDeletion,
    response: response<{ deleted: boolean }>(),
    wire: 'request',
  },
  assetsToRemove: {
    path: '/assets/to-remove',
    callers: byMoney,
    request: assetsToRemove,
    response: response<{ assets: { id: string; project: string }[] }>(),
    wire: 'request',
  },
  assetsRemoved: {
    path: '/assets/removed',
    callers: byMoney,
    request: assetsRemoved,
    response: response<object>(),
    wire: 'request',
  },
  readAsset: {
    path: '/assets/read',
    callers: ['gateway', 'worker'],
    request: assetQuestion,
    response: response<AssetAnswer>(),
    wire: 'channel',
  },
  /** What a gateway must know of the images of a chat call before it is admitted. */
  readAttachments: {
    path: '/attachments/read',
    callers: ['gateway', 'worker'],
    request: attachmentQuestion,
    response: response<AttachmentAnswer>(),
    wire: 'request',
  },
  heartbeat: {
    path: '/instances/heartbeat',
    callers: ['gateway', 'worker'],
    request: heartbeat,
    response: response<{ alive: boolean }>(),
    wire: 'request',
  },
  endInstance: {
    path: '/instances/end',
    callers: ['gateway', 'worker'],
    request: endInstance,
    response: response<object>(),
    wire: 'request',
  },
  /** Refusals that callers received, shown to users. Losing some is acceptable: no money depends on them. */
  reportRefusals: {
    path: '/refusals',
    callers: byKey,
    request: refusalReport,
    response: response<object>(),
    wire: 'request',
  },
  /** How a project captures prompts and answers. */
  captureRules: {
    path: '/content/rules',
    callers: ['worker'],
    request: captureQuestion,
    response: response<CaptureAnswer>(),
    wire: 'request',
  },
  /** Prompts and answers of projects that capture them. Losing some is acceptable. */
  recordContent: {
    path: '/content',
    callers: ['gateway', 'worker'],
    request: capturedCalls,
    response: response<object>(),
    wire: 'request',
    bodyBytes: capturedContentLimits.bodyBytes,
  },
  /** What processes saw of their providers, shown to operators. Losing some is acceptable: no money depends on it. */
  reportProviders: {
    path: '/providers',
    callers: ['gateway', 'worker'],
    request: providerReport,
    response: response<ProviderReportAnswer>(),
    wire: 'request',
  },
  fund: {
    path: '/fundings',
    callers: byMoney,
    request: funding,
    response: response<{ fresh: boolean; micro: number }>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  correct: {
    path: '/corrections',
    callers: byMoney,
    request: correction,
    response: response<CorrectionAnswer>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  setThresholds: {
    path: '/notices/thresholds',
    callers: byMoney,
    request: thresholdsRequest,
    response: response<object>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  setBudget: {
    path: '/budgets/set',
    callers: byMoney,
    request: budgetRequest,
    response: response<{ id: string }>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  removeBudget: {
    path: '/budgets/remove',
    callers: byMoney,
    request: removedBudget,
    response: response<{ found: boolean }>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  createWebhook: {
    path: '/webhooks/create',
    callers: byMoney,
    request: webhookRequest,
    response: response<WebhookAnswer>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  rotateWebhookSecret: {
    path: '/webhooks/rotate',
    callers: byMoney,
    request: webhookRotation,
    response: response<WebhookRotationAnswer>(),
    wire: 'request',
  },
  testWebhook: {
    path: '/webhooks/test',
    callers: byMoney,
    request: webhookTest,
    response: response<SendAnswer>(),
    wire: 'request',
  },
  resendDelivery: {
    path: '/webhooks/deliveries/resend',
    callers: byMoney,
    request: resending,
    response: response<SendAnswer>(),
    wire: 'request',
  },
  writeNotices: {
    path: '/notices/write',
    callers: byMoney,
    request: eventNotices,
    response: response<object>(),
    wire: 'request',
  },
  takeDeliveries: {
    path: '/webhooks/deliveries/take',
    callers: ['worker'],
    request: deliveriesQuestion,
    response: response<{ deliveries: TakenDelivery[] }>(),
    wire: 'request',
  },
  takeMails: {
    path: '/webhooks/mails/take',
    callers: byMoney,
    request: mailsQuestion,
    response: response<{ mails: TakenMail[] }>(),
    wire: 'request',
  },
  recordDeliveries: {
    path: '/webhooks/deliveries/record',
    callers: ['worker', 'console'],
    request: deliveryRecords,
    response: response<DeliveryCounts>(),
    wire: 'request',
  },
  /** Returns once no admission that read older facts of these projects can still be under way. */
  barrier: {
    path: '/barrier',
    callers: byMoney,
    request: barrier,
    response: response<object>(),
    wire: 'request',
    tryMs: LOCKED_MS,
  },
  wallet: {
    path: '/wallets/read',
    callers: byMoney,
    request: walletQuestion,
    response: response<WalletAnswer>(),
    wire: 'request',
  },
} as const satisfies Record<string, OperationRow>

export type OperationName = keyof typeof ledgerOperations
export type RequestOf<Name extends OperationName> = z.infer<(typeof ledgerOperations)[Name]['request']>
export type ResponseOf<Name extends OperationName> = NonNullable<(typeof ledgerOperations)[Name]['response']['type']>

export const operationNames = Object.keys(ledgerOperations) as OperationName[]
