import { chatBody } from '../chat-request.ts'
import { contractSide, flowPackage, graph, graphProblem } from '../graph.ts'
import { invokeBody } from '../invoke-request.ts'
import { auditLine, auditRecord } from '../console/audit.ts'
import { revenueReport, walletRow } from '../console/platform-money.ts'
import { providerHealth, providersReport, providerTest } from '../console/provider-health.ts'
import {
  appointmentRecord,
  memberRecord,
  teamMemberRecord,
  teamRecord,
  tenantRecord,
  removalRecord,
  tenantWebhookRecord,
} from '../console/users.ts'
import { accessTokenRecord } from '../console/access-tokens.ts'
import { storedAsset } from '../console/assets.ts'
import { capturedContent } from '../console/capture.ts'
import { keyRecord, newKeyBody } from '../console/keys.ts'
import { invocationRecord, usageReport, walletShape } from '../console/money.ts'
import { budgetRecord } from '../console/budgets.ts'
import { newProductBody, productPricing, productRecord } from '../console/products.ts'
import { assignmentRecord, grantRecord, projectRecord } from '../console/projects.ts'
import { deliveryRecord, noticeRecord, noticeThresholds, webhookDelivery, webhookRecord } from '../console/notices.ts'
import { latestRefusals, refusalCounts } from '../console/refusals.ts'
import { newRevisionBody, revisionRecord, sandboxActivity, sandboxRecord } from '../console/sandboxes.ts'
import { fundingRecord, journalEntry, statement } from '../console/statement.ts'
import { meRecord, signInMethods, tokenRecord } from '../console/sign-in.ts'
import { keyStatus } from '../key-status.ts'
import { modelEntry, modelList, pricing } from '../model-entry.ts'
import { messagesBody } from '../wires/messages/messages-body.ts'
import { messageErrorShape, messageEventShape, messageShape } from '../wires/messages/messages-shapes.ts'
import { responsesBody } from '../wires/responses/responses-body.ts'
import { responseEventShape, responseShape } from '../wires/responses/responses-shapes.ts'
import { chunkShape, completionShape, refusalAnswer, refusalBody, usageShape } from './answer-shapes.ts'
import {
  assetShape,
  executionDetailShape,
  executionNodeDetailShape,
  executionNodeShape,
  executionShape,
  executionSummaryShape,
  progressShape,
} from '../execution.ts'

/** Request bodies with a name in the description of the API, so that generated clients use that name. */
export const namedBodies = {
  ChatRequest: chatBody,
  ResponsesRequest: responsesBody,
  MessagesRequest: messagesBody,
  InvokeRequest: invokeBody,
  NewKey: newKeyBody,
  NewProduct: newProductBody,
  NewRevision: newRevisionBody,
}

/** Named responses, and the named parts of responses. */
export const namedAnswers = {
  Refusal: refusalAnswer,
  Completion: completionShape,
  CompletionChunk: chunkShape,
  Message: messageShape,
  MessageEvent: messageEventShape,
  MessageError: messageErrorShape,
  Response: responseShape,
  ResponseEvent: responseEventShape,
  Usage: usageShape,
  Models: modelList,
  Model: modelEntry,
  ModelPricing: pricing,
  KeyStatus: keyStatus,
  SignInMethods: signInMethods,
  Me: meRecord,
  Token: tokenRecord,
  AccessToken: accessTokenRecord,
  Tenant: tenantRecord,
  Member: memberRecord,
  Budget: budgetRecord,
  Team: teamRecord,
  TeamMember: teamMemberRecord,
  AuditEntry: auditRecord,
  AuditLine: auditLine,
  ProviderHealth: providerHealth,
  ProviderTest: providerTest,
  ProvidersReport: providersReport,
  WalletRow: walletRow,
  RevenueReport: revenueReport,
  Appointment: appointmentRecord,
  Removal: removalRecord,
  TenantWebhook: tenantWebhookRecord,
  Project: projectRecord,
  Grant: grantRecord,
  Assignment: assignmentRecord,
  Key: keyRecord,
  Wallet: walletShape,
  Statement: statement,
  Funding: fundingRecord,
  JournalEntry: journalEntry,
  UsageReport: usageReport,
  Invocation: invocationRecord,
  CapturedContent: capturedContent,
  RefusalCounts: refusalCounts,
  LatestRefusals: latestRefusals,
  NoticeThresholds: noticeThresholds,
  Notice: noticeRecord,
  NoticeDelivery: deliveryRecord,
  Webhook: webhookRecord,
  WebhookDelivery: webhookDelivery,
  Product: productRecord,
  ProductPricing: productPricing,
  RefusalBody: refusalBody,
  Execution: executionShape,
  ExecutionNode: executionNodeShape,
  ExecutionDetail: executionDetailShape,
  ExecutionNodeDetail: executionNodeDetailShape,
  ExecutionSummary: executionSummaryShape,
  Progress: progressShape,
  Asset: assetShape,
  StoredAsset: storedAsset,
  Sandbox: sandboxRecord,
  SandboxActivity: sandboxActivity,
  Revision: revisionRecord,
  Graph: graph,
  ContractSide: contractSide,
  GraphProblem: graphProblem,
  FlowPackage: flowPackage,
}
