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

const sandboxes = route('Sandbox products of a project')
const executionKey = {
  'Idempotency-Key': {
    description:
      'Yours, new for each execution that is to begin: under the same one, kept for 30 days, one begins, and a repeat is answered with that one',
    pattern: '^[\\x21-\\x7e]{8,128}$',
  },
}

/** Sandbox products, for Project Owners and Consumers of their project; other users see none (flows §1.2). */
export const consoleFlowRoutes = {
  listSandboxes: sandboxes('GET', `${project}/sandboxes`, 'List sandbox products', page(sandboxRecord), paged),
  createSandbox: sandboxes(
    'POST',
    `${project}/sandboxes`,
    'Make an empty sandbox product',
    made(sandboxRecord),
    sentOnce(newSandboxBody, 'quota_reached'),
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
      'Always a new one, stored with the `problems` of its graph; no revision is ever changed. What has problems cannot be activated. `draft` marks one that is not finished. `baseRevision` refuses a save over one that the author has not seen.',
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
        'From then on it answers calls from outside. The revision stays as it was saved; what is built of it is the `activePackage` of the sandbox product. Where it fails, the one that was active still is. Executions in progress keep theirs.',
    },
  ),
  executeSandbox: sandboxes(
    'POST',
    `${sandbox}/execute`,
    'Run any revision, on the wallet of the project',
    {
      200: {
        description: 'The record; with `Accept: application/x-ndjson` the progress, a line each',
        body: executionDetailShape,
        also: { 'application/x-ndjson': progressShape },
        headers: {
          'X-Service-Invocation': 'The execution id',
          'Idempotent-Replayed': '`true` where it was begun before',
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
        'Without an API key. Before the answer or a line of it may be spaces. Who leaves does not stop the execution.',
    },
  ),
  estimateSandbox: sandboxes(
    'POST',
    `${sandbox}/estimate`,
    'What an execution would be charged at most',
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
      maxBodyBytes: flowLimits.bodyBytes,
      description:
        'Of any revision without problems with this input, by the prices of this moment: the most that is reserved along the most expensive path through the flow. Nothing begins and nothing is reserved.',
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
    'Stop an execution, regardless of who began it',
    one(executionDetailShape),
    {
      refusals: ['execution_not_found'],
      example: { answer: cancelledDetailExample },
      description:
        'From then on no node of it begins, and calls that are under way are aborted: one that was answered is charged, one that was not is not. The answer is the record as it is then: `Cancelled`, or still `Running` with the error `execution_cancelled` until the last call has ended. An execution that has ended, or has begun to fail, stays as it is and is answered too, so a stop may be repeated. Who stopped it is in the audit.',
    },
  ),
  rerunExecution: sandboxes(
    'POST',
    `${project}/executions/{execution}/rerun`,
    'Run from a node of an execution that has ended',
    {
      200: {
        description: 'The record; with `Accept: application/x-ndjson` the progress, a line each',
        body: executionDetailShape,
        also: { 'application/x-ndjson': progressShape },
        headers: {
          'X-Service-Invocation': 'The id of the new execution',
          'Idempotent-Replayed': '`true` where it was begun before',
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
        'A new execution of the same input, on the wallet of the project. The node, everything below it, and what had no result run again and are charged; all other results are taken over as they are (`takenOver` in the record, `rerunOf` names the earlier execution) and cost nothing. Who began it is in the audit. Before the answer or a line of it may be spaces. Who leaves does not stop the execution.',
    },
  ),
  followExecution: sandboxes(
    'GET',
    `${project}/executions/{execution}/progress`,
    'Follow an execution, regardless of who began it',
    { 200: { description: 'A line each', also: { 'application/x-ndjson': progressShape } } },
    {
      query: progressQuery,
      refusals: ['invalid_request', 'execution_not_found'],
      description:
        'The lines of its progress behind `after`: those that there are, then the others as they come, until `complete`. Who lost the connection continues behind the last `seq` they have. Before a line may be spaces. Each look is authorised again: who may not read anymore gets a last line `refused`. Who leaves does not stop the execution.',
    },
  ),
} as const satisfies Record<string, ApiRoute>
