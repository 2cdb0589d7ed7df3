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

const byGateway = ['gateway'] as const
const byConsole = ['console'] as const
const byWorker = ['worker'] as const
const byGatewayOrConsole = ['gateway', 'console'] as const
const byGatewayOrWorker = ['gateway', 'worker'] as const
const byAny = ['gateway', 'worker', 'console'] as const
const LOCKED_MS = 6_000

const whoStores = (caller: object, service: ServiceName) =>
  'user' in caller === (service === 'console')
    ? null
    : 'The console stores assets on behalf of a user, and no one else.'

const rowOf =
  <const Wire extends OperationRow['wire']>(wire: Wire) =>
  <Callers extends OperationRow['callers'], Request extends z.ZodType, Response extends object>(
    path: string,
    callers: Callers,
    request: Request,
    response: ResponseType<Response>,
    more: Pick<OperationRow, 'span' | 'tryMs' | 'bodyBytes'> & {
      forbids?: (request: z.infer<Request>, caller: ServiceName) => string | null
    } = {},
  ) => ({ path, wire, callers, request, response, ...more })
const request = rowOf('request')
const channel = rowOf('channel')

export const ledgerOperations = {
  /** What a key can call now. */
  models: request('/models', byGateway, modelsQuestion, response<ModelsAnswer>()),
  /** Which keys exist, and their projects. */
  identifyKeys: request('/keys/identify', byGateway, keysQuestion, response<KeysAnswer>()),
  /** What a key is, and what is left of its limit. */
  key: request('/keys/read', byGateway, callerQuestion, response<KeyAnswer>()),
  /** Whether a call would be admitted now; nothing is reserved. */
  checkAdmission: request('/keys/check', byGatewayOrConsole, checkQuestion, response<CheckedAdmission>(), {
    forbids: ({ caller }, service) =>
      'key' in caller && service !== 'console' ? 'Only the console asks about a key by its id.' : null,
  }),
  /** What a call of a key was charged, or what is reserved for it. */
  readInvocation: request('/invocations/read', byGateway, invocationQuestion, response<InvocationAnswer>()),
  /** Starts an execution, or returns the one of an idempotency key. Without a response it may have started. */
  startExecution: channel('/executions/start', byGatewayOrConsole, startQuestion, response<StartAnswer>(), {
    span: { name: 'start', id: 'service.execution', begins: true },
    bodyBytes: 2 * flowLimits.bodyBytes, // what surrounds the input of an invoke, and JSON escapes
    forbids: ({ caller }, service) =>
      'user' in caller && service !== 'console' ? 'Only the console begins executions on behalf of a user.' : null,
  }),
  /** Starts an execution that reuses results of an earlier one. Without a response it may have started. */
  rerunExecution: channel('/executions/rerun', byConsole, rerunQuestion, response<RerunAnswer>(), {
    span: { name: 'rerun', id: 'service.execution', begins: true },
  }),
  /** The basis for estimating the maximum charge of an execution. */
  estimateSandbox: request(
    '/sandboxes/estimate',
    byGatewayOrConsole,
    estimateQuestion,
    response<EstimateFacts | Refused>(),
    {
      bodyBytes: 2 * flowLimits.bodyBytes, // like a start
      forbids: ({ caller }, service) =>
        'user' in caller && service !== 'console' ? 'Only the console asks on behalf of a user.' : null,
    },
  ),
  followExecution: channel('/executions/follow', byGatewayOrConsole, followQuestion, response<FollowAnswer>()),
  /** Which of the executions that a caller waits for have ended, in one request. */
  endedExecutions: channel('/executions/ended', byGateway, endedQuestion, response<EndedAnswer>()),
  readExecution: channel('/executions/read', byGatewayOrConsole, executionQuestion, response<ExecutionAnswer>(), {
    forbids: ({ detailed }, service) =>
      detailed === true && service !== 'console' ? 'Only the console reads what users learn of executions.' : null,
  }),
  cancelExecution: channel('/executions/cancel', byGatewayOrConsole, cancelQuestion, response<CancelAnswer>(), {
    tryMs: LOCKED_MS,
    forbids: ({ caller }, service) =>
      caller === null && service !== 'console' ? 'Only the console stops executions on behalf of a user.' : null,
  }),
  readUsage: channel('/executions/usage', byGatewayOrConsole, usageQuestion, response<UsageAnswer>()),
  readSandbox: channel('/sandboxes/read', byGateway, sandboxQuestion, response<SandboxAnswer>()),
  admitAsset: channel('/assets/admit', byAny, assetAdmission, response<AssetAdmissionAnswer>(), {
    forbids: ({ caller }, service) => whoStores(caller, service),
  }),
  recordAsset: channel('/assets/record', byAny, assetRecord, response<AssetRecordAnswer>(), {
    span: { name: 'record-asset', id: 'service.asset', begins: false },
    forbids: ({ caller }, service) => whoStores(caller, service),
  }),
  deleteAsset: request('/assets/delete', byConsole, assetDeletion, response<{ deleted: boolean }>()),
  assetsToRemove: request(
    '/assets/to-remove',
    byConsole,
    assetsToRemove,
    response<{ assets: { id: string; project: string; deletedAt: string }[] }>(),
  ),
  assetsRemoved: request('/assets/removed', byConsole, assetsRemoved, response<object>()),
  readAsset: channel('/assets/read', byGatewayOrWorker, assetQuestion, response<AssetAnswer>()),
  /** What a gateway must know of the images of a chat call before it is admitted. */
  readAttachments: request('/attachments/read', byGatewayOrWorker, attachmentQuestion, response<AttachmentAnswer>()),
  heartbeat: request('/instances/heartbeat', byGatewayOrWorker, heartbeat, response<{ alive: boolean }>()),
  endInstance: request('/instances/end', byGatewayOrWorker, endInstance, response<object>()),
  /** Refusals that callers received, shown to users. Losing some is acceptable: no money depends on them. */
  reportRefusals: request('/refusals', byGateway, refusalReport, response<object>()),
  /** How a project captures prompts and answers. */
  captureRules: request('/content/rules', byWorker, captureQuestion, response<CaptureAnswer>()),
  /** Prompts and answers of projects that capture them. Losing some is acceptable. */
  recordContent: request('/content', byGatewayOrWorker, capturedCalls, response<object>(), {
    bodyBytes: capturedContentLimits.bodyBytes,
  }),
  /** What processes saw of their providers, shown to operators. Losing some is acceptable: no money depends on it. */
  reportProviders: request('/providers', byGatewayOrWorker, providerReport, response<ProviderReportAnswer>()),
  fund: request('/fundings', byConsole, funding, response<{ fresh: boolean; micro: number }>(), {
    tryMs: LOCKED_MS,
  }),
  correct: request('/corrections', byConsole, correction, response<CorrectionAnswer>(), {
    tryMs: LOCKED_MS,
  }),
  setThresholds: request('/notices/thresholds', byConsole, thresholdsRequest, response<object>(), {
    tryMs: LOCKED_MS,
  }),
  setBudget: request('/budgets/set', byConsole, budgetRequest, response<{ id: string }>(), {
    tryMs: LOCKED_MS,
  }),
  removeBudget: request('/budgets/remove', byConsole, removedBudget, response<{ found: boolean }>(), {
    tryMs: LOCKED_MS,
  }),
  createWebhook: request('/webhooks/create', byConsole, webhookRequest, response<WebhookAnswer>(), {
    tryMs: LOCKED_MS,
  }),
  rotateWebhookSecret: request('/webhooks/rotate', byConsole, webhookRotation, response<WebhookRotationAnswer>()),
  testWebhook: request('/webhooks/test', byConsole, webhookTest, response<SendAnswer>()),
  resendDelivery: request('/webhooks/deliveries/resend', byConsole, resending, response<SendAnswer>()),
  writeNotices: request('/notices/write', byConsole, eventNotices, response<object>()),
  takeDeliveries: request(
    '/webhooks/deliveries/take',
    byWorker,
    deliveriesQuestion,
    response<{ deliveries: TakenDelivery[] }>(),
  ),
  takeMails: request('/webhooks/mails/take', byConsole, mailsQuestion, response<{ mails: TakenMail[] }>()),
  recordDeliveries: request(
    '/webhooks/deliveries/record',
    ['worker', 'console'],
    deliveryRecords,
    response<DeliveryCounts>(),
  ),
  /** Returns once no admission that read older facts of these projects can still be under way. */
  barrier: request('/barrier', byConsole, barrier, response<object>(), {
    tryMs: LOCKED_MS,
  }),
  wallet: request('/wallets/read', byConsole, walletQuestion, response<WalletAnswer>()),
} satisfies Record<string, OperationRow>

export type OperationName = keyof typeof ledgerOperations
/** The operations that this service may call. */
export type OperationsOf<Service extends ServiceName> = {
  [Name in OperationName]: Service extends (typeof ledgerOperations)[Name]['callers'][number] ? Name : never
}[OperationName]
export type RequestOf<Name extends OperationName> = z.infer<(typeof ledgerOperations)[Name]['request']>
export type ResponseOf<Name extends OperationName> = NonNullable<(typeof ledgerOperations)[Name]['response']['type']>

export const operationNames = Object.keys(ledgerOperations) as OperationName[]
