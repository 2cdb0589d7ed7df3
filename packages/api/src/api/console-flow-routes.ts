import { sandboxEstimate } from '../estimate.ts'
import {
  estimateInputBody,
  executeBody,
  executionsQuery,
  newRevisionBody,
  newSandboxBody,
  projectExecutionsQuery,
  rerunBody,
  revisionRecord,
  sandboxActivity,
  sandboxPatch,
  sandboxRecord,
} from '../console/sandboxes.ts'
import { cancelledDetailExample } from '../execution-examples.ts'
import { flowLimits } from '../limits.ts'
import type { ApiRoute } from './api-route.ts'
import { made, one, page, paged, project, route, sent, sentOnce, tenant } from './console-rows.ts'
import { executionDetailShape, executionSummaryShape, progressQuery, progressShape } from '../execution.ts'

const sandbox = `${tenant}/sandboxes/{sandbox}` as const
const reached = ['sandbox_not_found'] as const

const sandboxes = route('Sandbox products of a project', 'flows')
const executionKey = {
  'Idempotency-Key': {
    description:
      'Chosen by the client, new for each execution to start. It is remembered for 30 days: a repeat returns the execution started first',
    pattern: '^[\\x21-\\x7e]{8,128}$',
  },
}

/** Sandbox products, for Project Owners and Consumers of their project; other users see none (flows §1.2). */
export const consoleFlowRoutes = {
  listSandboxes: sandboxes('GET', `${project}/sandboxes`, 'List sandbox products', page(sandboxRecord), paged),
  createSandbox: sandboxes(
    'POST',
    `${project}/sandboxes`,
    'Create an empty sandbox product',
    made(sandboxRecord),
    sentOnce(newSandboxBody, 'quota_reached'),
  ),
  listSandboxActivity: sandboxes(
    'GET',
    `${project}/sandboxes/activity`,
    'List the last execution, success rate and spend of sandbox products',
    page(sandboxActivity),
    paged,
  ),
  readSandbox: sandboxes('GET', sandbox, 'Read a sandbox product', one(sandboxRecord), { refusals: reached }),
  changeSandbox: sandboxes(
    'PATCH',
    sandbox,
    'Change a sandbox product',
    one(sandboxRecord),
    sent(sandboxPatch, ...reached),
  ),
  listRevisions: sandboxes('GET', `${sandbox}/revisions`, 'List revisions, newest first', page(revisionRecord), {
    ...paged,
    refusals: ['invalid_request', ...reached],
  }),
  saveRevision: sandboxes('POST', `${sandbox}/revisions`, 'Save a revision', made(revisionRecord), {
    ...sentOnce(newRevisionBody, ...reached, 'revision_conflict', 'quota_reached'),
    maxBodyBytes: flowLimits.bodyBytes,
    description:
      'Always creates a new revision, stored with the `problems` of its graph; revisions never change. A revision with problems cannot be activated. `draft` marks an unfinished one. With `baseRevision`, the save is refused if there is a later revision.',
  }),
  readRevision: sandboxes('GET', `${sandbox}/revisions/{number}`, 'Read a revision', one(revisionRecord), {
    refusals: reached,
  }),
  activateRevision: sandboxes(
    'POST',
    `${sandbox}/revisions/{number}/activate`,
    'Activate a revision',
    one(sandboxRecord),
    {
      refusals: [...reached, 'graph_invalid', 'product_not_assigned', 'activation_failed'],
      description:
        'The revision then serves calls from outside. It stays unchanged; the package built from it becomes the `activePackage` of the sandbox product. If activation fails, the previous revision stays active. Executions in progress keep their revision.',
    },
  ),
  executeSandbox: sandboxes(
    'POST',
    `${sandbox}/execute`,
    'Run any revision, charged to the wallet of the project',
    {
      200: {
        description: 'The record; with `Accept: application/x-ndjson` the progress, one JSON object per line',
        body: executionDetailShape,
        also: { 'application/x-ndjson': progressShape },
        headers: {
          'X-Service-Invocation': 'The execution ID',
          'Idempotent-Replayed': '`true` if the execution had already started',
        },
      },
    },
    {
      ...sent(
        executeBody,
        'quota_reached',
        'idempotency_key_invalid',
        'duplicate_header',
        ...reached,
        'idempotency_mismatch',
        'answer_not_kept',
        'revision_not_active',
        'graph_invalid',
        'product_not_assigned',
        'input_type',
        'insufficient_budget',
      ),
      headers: executionKey,
      maxBodyBytes: flowLimits.bodyBytes,
      description:
        'Needs no API key. The response and its lines may start with spaces. Disconnecting does not stop the execution.',
    },
  ),
  estimateSandbox: sandboxes(
    'POST',
    `${sandbox}/estimate`,
    'Estimate the max cost of an execution',
    one(sandboxEstimate),
    {
      ...sent(
        estimateInputBody,
        ...reached,
        'revision_not_active',
        'graph_invalid',
        'product_not_assigned',
        'input_type',
      ),
      scopes: ['flows:read'],
      maxBodyBytes: flowLimits.bodyBytes,
      description:
        'For any revision without problems with this input, at current prices: the reservations along the most expensive path through the flow. Nothing is started or reserved.',
    },
  ),
  listExecutions: sandboxes(
    'GET',
    `${sandbox}/executions`,
    'List executions, newest first',
    page(executionSummaryShape),
    {
      query: executionsQuery,
      refusals: ['invalid_request', ...reached],
    },
  ),
  listProjectExecutions: sandboxes(
    'GET',
    `${project}/executions`,
    'List the executions of all sandbox products, newest first',
    page(executionSummaryShape),
    { query: projectExecutionsQuery, refusals: ['invalid_request'] },
  ),
  readExecution: sandboxes('GET', `${project}/executions/{execution}`, 'Read an execution', one(executionDetailShape), {
    refusals: ['execution_not_found'],
  }),
  cancelExecution: sandboxes(
    'POST',
    `${project}/executions/{execution}/cancel`,
    'Stop an execution, regardless of who started it',
    one(executionDetailShape),
    {
      refusals: ['execution_not_found'],
      example: { answer: cancelledDetailExample },
      description:
        'No further node starts, and calls in progress are aborted: a call that was answered is charged, any other is not. The response is the current record: `Cancelled`, or still `Running` with the error `execution_cancelled` until the last call has ended. An execution that has ended or is already failing stays unchanged and is returned too, so the request may be repeated. The audit log records who stopped it.',
    },
  ),
  rerunExecution: sandboxes(
    'POST',
    `${project}/executions/{execution}/rerun`,
    'Run from a node of an execution that has ended',
    {
      200: {
        description: 'The record; with `Accept: application/x-ndjson` the progress, one JSON object per line',
        body: executionDetailShape,
        also: { 'application/x-ndjson': progressShape },
        headers: {
          'X-Service-Invocation': 'The ID of the new execution',
          'Idempotent-Replayed': '`true` if the execution had already started',
        },
      },
    },
    {
      ...sent(
        rerunBody,
        'quota_reached',
        'idempotency_key_invalid',
        'duplicate_header',
        'execution_not_found',
        'idempotency_mismatch',
        'answer_not_kept',
        'execution_not_ended',
        'revision_not_active',
        'graph_invalid',
        'rerun_differs',
        'product_not_assigned',
        'insufficient_budget',
      ),
      headers: executionKey,
      description:
        'Starts a new execution with the same input, charged to the wallet of the project. The node, all nodes after it, and nodes without a result run again and are charged; all other results are reused (`takenOver` in the record; `rerunOf` names the earlier execution) and cost nothing. The audit log records who started it. The response and its lines may start with spaces. Disconnecting does not stop the execution.',
    },
  ),
  followExecution: sandboxes(
    'GET',
    `${project}/executions/{execution}/progress`,
    'Follow an execution, regardless of who started it',
    { 200: { description: 'One JSON object per line', also: { 'application/x-ndjson': progressShape } } },
    {
      query: progressQuery,
      refusals: ['invalid_request', 'execution_not_found'],
      description:
        'The progress lines after `after`: first the existing ones, then new ones as they arrive, until `complete`. After a lost connection, continue with the last `seq` received. A line may start with spaces. Every read is authorized again: a caller who loses access gets a last line `refused`. Disconnecting does not stop the execution.',
    },
  ),
} as const satisfies Record<string, ApiRoute>
