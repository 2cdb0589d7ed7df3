import type { OperationName, RequestOf, ResponseOf } from '@gateway/ledger-protocol/ledger-operations'
import {
  admitAsset,
  deleteAsset,
  forgetAssets,
  listAssetsToRemove,
  readAsset,
  readAttachments,
  recordAsset,
} from './assets/assets.ts'
import { endedExecutions, followExecution, readExecution, readUsage } from './executions/records/read-execution.ts'
import { endInstance, recordHeartbeat } from './instances/signs-of-life.ts'
import { identifyKeys, readKeyStatus } from './keys/read-caller.ts'
import { correct, fund, passBarrier, readWallet } from './wallets/wallets.ts'
import { readCaptureRules, recordContent } from './content/record-content.ts'
import { checkAdmission } from './admissions/check-admission.ts'
import { readModels, readSandbox } from './catalogue/read-models.ts'
import type { Deps } from './deps.ts'
import { cancelExecution } from './executions/cancel-execution.ts'
import { estimateSandbox } from './executions/estimates/estimate-sandbox.ts'
import { startExecution } from './executions/start/start-batcher.ts'
import { readInvocation } from './invocations/read-invocation.ts'
import { removeBudget, setBudget } from './budgets/budgets.ts'
import { setThresholds, writeNotices } from './notices/write-notices.ts'
import { recordDeliveries, takeDeliveries, takeMails, resendDelivery, testWebhook } from './webhooks/deliveries.ts'
import { createWebhook, rotateWebhookSecret } from './webhooks/webhooks.ts'
import { recordProviders } from './providers/record-providers.ts'
import { recordRefusals } from './refusals/record-refusals.ts'

/** Handler of each operation of packages/ledger-protocol/src/ledger-operations.ts; a missing one does not compile. */
export const operationHandlers: {
  [Name in OperationName]: (deps: Deps, request: RequestOf<Name>) => Promise<ResponseOf<Name>>
} = {
  models: readModels,
  identifyKeys,
  key: readKeyStatus,
  checkAdmission,
  readInvocation,
  startExecution,
  rerunExecution: ({ reruns }, question) => reruns.submit(question),
  estimateSandbox,
  followExecution,
  endedExecutions,
  readExecution,
  cancelExecution,
  readUsage,
  readSandbox,
  admitAsset,
  recordAsset,
  deleteAsset,
  assetsToRemove: listAssetsToRemove,
  assetsRemoved: forgetAssets,
  readAsset,
  readAttachments,
  heartbeat: asking('heartbeats', recordHeartbeat),
  endInstance: asking('heartbeats', endInstance),
  reportRefusals: asking('maintenance', recordRefusals),
  captureRules: readCaptureRules,
  recordContent: asking('maintenance', recordContent),
  reportProviders: asking('maintenance', recordProviders),
  fund: asking('locking', fund),
  correct: asking('locking', correct),
  setThresholds: asking('locking', setThresholds),
  setBudget: asking('locking', setBudget),
  removeBudget: asking('locking', removeBudget),
  createWebhook,
  rotateWebhookSecret,
  testWebhook,
  resendDelivery,
  writeNotices,
  takeDeliveries: asking('maintenance', takeDeliveries),
  takeMails: asking('maintenance', takeMails),
  recordDeliveries: asking('maintenance', recordDeliveries),
  barrier: asking('locking', passBarrier),
  wallet: readWallet,
}

/** Runs a handler on other connections than those for requests (start.ts). */
function asking<Request, Response>(
  pool: 'heartbeats' | 'locking' | 'maintenance',
  handler: (deps: Deps, request: Request) => Promise<Response>,
): (deps: Deps, request: Request) => Promise<Response> {
  return (deps, request) => handler({ ...deps, reads: deps[pool] }, request)
}
