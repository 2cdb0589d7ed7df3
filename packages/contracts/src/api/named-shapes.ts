import { chatBody } from '../chat-request.ts'
import { contractSide, graph } from '../graph.ts'
import { invokeBody } from '../invoke-request.ts'
import {
  assignmentRecord,
  auditRecord,
  grantRecord,
  invocationRecord,
  keyRecord,
  memberRecord,
  meRecord,
  newKeyBody,
  newProductBody,
  productPricing,
  productRecord,
  projectRecord,
  sandboxRecord,
  signInMethods,
  teamMemberRecord,
  teamRecord,
  tenantRecord,
  tokenRecord,
  usageReport,
} from '../console.ts'
import { keyStatus } from '../key-status.ts'
import { modelEntry, modelList, pricing } from '../model-entry.ts'
import { chunkShape, completionShape, refusalAnswer, refusalBody, usageShape } from './answer-shapes.ts'
import { walletShape } from './console-routes.ts'
import {
  assetShape,
  executionNodeShape,
  executionShape,
  executionSummaryShape,
  flowPackageShape,
  graphProblemShape,
  progressShape,
  revisionShape,
  saveRevisionBody,
} from './flow-shapes.ts'

/** Bodies that have a name in the description of the API, so that a generated client calls them by it. */
export const namedBodies = {
  ChatRequest: chatBody,
  InvokeRequest: invokeBody,
  NewKey: newKeyBody,
  NewProduct: newProductBody,
  NewRevision: saveRevisionBody,
}

/** The same of answers, and of what is in them. */
export const namedAnswers = {
  Refusal: refusalAnswer,
  Completion: completionShape,
  CompletionChunk: chunkShape,
  Usage: usageShape,
  Models: modelList,
  Model: modelEntry,
  ModelPricing: pricing,
  KeyStatus: keyStatus,
  SignInMethods: signInMethods,
  Me: meRecord,
  Token: tokenRecord,
  Tenant: tenantRecord,
  Member: memberRecord,
  Team: teamRecord,
  TeamMember: teamMemberRecord,
  AuditEntry: auditRecord,
  Project: projectRecord,
  Grant: grantRecord,
  Assignment: assignmentRecord,
  Key: keyRecord,
  Wallet: walletShape,
  UsageReport: usageReport,
  Invocation: invocationRecord,
  Product: productRecord,
  ProductPricing: productPricing,
  RefusalBody: refusalBody,
  Execution: executionShape,
  ExecutionNode: executionNodeShape,
  ExecutionSummary: executionSummaryShape,
  Progress: progressShape,
  Asset: assetShape,
  Sandbox: sandboxRecord,
  Revision: revisionShape,
  Graph: graph,
  ContractSide: contractSide,
  GraphProblem: graphProblemShape,
  FlowPackage: flowPackageShape,
}
