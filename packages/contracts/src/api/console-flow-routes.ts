import { executeBody, newSandboxBody, sandboxPatch, sandboxRecord } from '../console.ts'
import type { ApiRoute } from './api-route.ts'
import { made, one, page, paged, project, route, sent, tenant } from './console-rows.ts'
import { executionShape, executionSummaryShape, progressShape, revisionShape, saveRevisionBody } from './flow-shapes.ts'

const sandbox = `${tenant}/sandboxes/{sandbox}`
const reached = ['sandbox_not_found'] as const

const sandboxes = route('Sandbox products of a project')

/** What Project Owners and Consumers do with the sandbox products of their project; to others there are none (spec 5.6). */
export const consoleFlowRoutes: ApiRoute[] = [
  sandboxes('GET', `${project}/sandboxes`, 'List sandbox products', page(sandboxRecord), paged),
  sandboxes('POST', `${project}/sandboxes`, 'Make an empty sandbox product', made(sandboxRecord), sent(newSandboxBody)),
  sandboxes('GET', sandbox, 'Read a sandbox product', one(sandboxRecord), { refusals: reached }),
  sandboxes('PATCH', sandbox, 'Change a sandbox product', one(sandboxRecord), sent(sandboxPatch, reached)),
  sandboxes('GET', `${sandbox}/revisions`, 'List revisions, newest first', page(revisionShape), {
    ...paged,
    refusals: ['invalid_request', ...reached],
  }),
  sandboxes('POST', `${sandbox}/revisions`, 'Save a revision', made(revisionShape), {
    ...sent(saveRevisionBody, [...reached, 'revision_conflict', 'graph_invalid', 'product_not_assigned']),
    description:
      'Always a new one; those before it are never changed. With `draft` a graph is stored with its problems, without it one with problems is refused. `baseRevision` refuses a save over one that the author has not seen.',
  }),
  sandboxes('GET', `${sandbox}/revisions/{number}`, 'Read a revision', one(revisionShape), { refusals: reached }),
  sandboxes('POST', `${sandbox}/revisions/{number}/activate`, 'Activate a revision', one(sandboxRecord), {
    refusals: [...reached, 'graph_invalid', 'product_not_assigned', 'activation_failed'],
    description:
      'From then on it answers calls from outside. Where it fails, the one that was active still is. Runs in progress keep theirs.',
  }),
  sandboxes(
    'POST',
    `${sandbox}/execute`,
    'Run any revision, on the wallet of the project',
    {
      200: {
        description: 'The record; with `Accept: application/x-ndjson` the progress, a line each',
        body: executionShape,
        also: { 'application/x-ndjson': progressShape },
        headers: { 'X-Service-Invocation': 'The execution id' },
      },
    },
    {
      ...sent(executeBody, [
        ...reached,
        'revision_not_active',
        'graph_invalid',
        'product_not_assigned',
        'input_type',
        'insufficient_budget',
      ]),
      description: 'Without a key. Before the answer or a line of it may be spaces. Who leaves does not stop the run.',
    },
  ),
  sandboxes('GET', `${sandbox}/executions`, 'List runs, newest first', page(executionSummaryShape), {
    ...paged,
    refusals: ['invalid_request', ...reached],
  }),
  sandboxes('GET', `${project}/executions/{execution}`, 'Read a run', one(executionShape), {
    refusals: ['execution_not_found'],
  }),
]
