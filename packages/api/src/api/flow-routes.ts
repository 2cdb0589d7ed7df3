import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { cancelledExample, executionExample, inputExample } from '../execution-examples.ts'
import { invokeBody } from '../invoke-request.ts'
import type { ApiRoute } from './api-route.ts'
import { assetShape, executionShape, progressQuery, progressShape } from '../execution.ts'
import { estimateBody, sandboxEstimate } from '../estimate.ts'
import { bytesShape } from './answer-shapes.ts'
import { idempotencyPattern, selector } from './key-headers.ts'

export const media = ['image/png', 'image/jpeg', 'image/webp', 'audio/wav', 'audio/mpeg'] as const
const images = { 'image/png': bytesShape, 'image/jpeg': bytesShape, 'image/webp': bytesShape }
export const anyMedia = { ...images, 'audio/wav': bytesShape, 'audio/mpeg': bytesShape }
export const range = { Range: { description: 'One range of bytes, such as `bytes=0-1023`' } }
export const partOf = <const Also extends Record<string, z.ZodType>>(also: Also) => ({
  description: 'The bytes that `Range` asks for',
  also,
})
const sandboxId = { id: 'Starts with sbx-' }
const ofSandbox = { path: { id: exampleIds.sandbox } }
const ofExecution = { path: { id: exampleIds.execution } }

const toolCallExample = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'invoke_product', arguments: inputExample },
}
const toolResultExample = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    content: [{ type: 'text', text: JSON.stringify(executionExample.output) }],
    structuredContent: executionExample.output,
    _meta: {
      service: {
        kind: 'sandbox',
        execution_id: executionExample.id,
        project: executionExample.project,
        revision: executionExample.revision,
        charged_micro: executionExample.chargedMicro,
      },
    },
  },
}

/** Sandbox products, as a key calls them (flows §4.1, §5). */
export const flowRoutes = {
  invokeSandbox: {
    method: 'POST',
    path: '/v1/sandbox/{id}/invoke',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Run a sandbox product',
    example: ofSandbox,
    description: [
      'Runs the active revision. The answer is the record of the execution, also of one that failed; each paid node of it is charged like a direct call, and nothing else is.',
      'With `Accept: application/x-ndjson` it is the progress of the execution, a line each; before a line may be spaces. Who leaves does not stop the execution. Each look is authorised again: who may not read anymore gets a last line `refused`.',
      'Without `Accept`, or with `*/*`, an execution that succeeded and whose output is one image by its contract is answered with that image. `Range` works on it.',
      'An image or sound goes in as `{ "asset": "ast_…" }` of an asset of the project.',
    ].join('\n\n'),
    parameters: sandboxId,
    headers: {
      'Idempotency-Key': {
        description:
          'New for each execution that is wanted, and the same for its retries: a repeat answers the same execution, which is charged once, with `Idempotent-Replayed: true`.',
        required: true,
        pattern: idempotencyPattern,
        example: exampleValues.idempotencyKey,
      },
      ...range,
      ...selector,
    },
    body: invokeBody,
    answers: {
      200: {
        description: 'The record, the progress, or the image',
        body: executionShape,
        also: { 'application/x-ndjson': progressShape, ...images },
        headers: {
          'X-Service-Invocation': 'The execution id',
          'Idempotent-Replayed': '`true` where the execution was begun before',
        },
      },
      206: partOf(images),
    },
    refusals: [
      'invalid_json',
      'invalid_request',
      'idempotency_key_required',
      'idempotency_key_invalid',
      'request_too_large',
      'sandbox_not_found',
      'key_scope',
      'revision_not_active',
      'product_not_assigned',
      'input_type',
      'quota_reached',
      'idempotency_mismatch',
      'idempotency_in_progress',
      'answer_not_kept',
      'key_limit',
      'insufficient_budget',
      'rate_limited',
      'range_not_satisfiable',
    ],
  },
  estimateSandbox: {
    method: 'POST',
    path: '/v1/sandbox/{id}/estimate',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'What an execution would be charged at most',
    example: ofSandbox,
    description:
      'Of the active revision with this input, by the prices of this moment: the most that is reserved along the most expensive path through the flow. Nothing begins and nothing is reserved. A `maxMicro` of so much refuses no node as long as prices stay unchanged.',
    parameters: sandboxId,
    headers: selector,
    body: estimateBody,
    answers: { 200: { description: 'The estimate', body: sandboxEstimate } },
    refusals: [
      'invalid_json',
      'invalid_request',
      'request_too_large',
      'sandbox_not_found',
      'key_scope',
      'revision_not_active',
      'product_not_assigned',
      'input_type',
    ],
  },
  cancelExecution: {
    method: 'POST',
    path: '/v1/sandbox/{id}/executions/{execution}/cancel',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Stop an execution, regardless of who began it',
    description:
      'From then on no node of it begins, and calls that are under way are aborted: one that was answered is charged, one that was not is not. The answer is the record as it is then: `Cancelled`, or still `Running` with the error `execution_cancelled` until the last call has ended. An execution that has ended, or has begun to fail, stays as it is and is answered too, so a stop may be repeated.',
    parameters: sandboxId,
    example: { ...ofSandbox, answer: cancelledExample },
    headers: selector,
    answers: {
      200: {
        description: 'The record',
        body: executionShape,
        headers: { 'X-Service-Invocation': 'The execution id' },
      },
    },
    refusals: ['execution_not_found', 'key_scope'],
  },
  serveMcp: {
    method: 'POST',
    path: '/v1/sandbox/{id}/mcp',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Speak MCP with a sandbox product',
    description:
      'Stateless Streamable HTTP, with one tool, `invoke_product`. Only where MCP is enabled on the sandbox product. What a caller can clear in a call of the tool is a result with `isError`.',
    parameters: sandboxId,
    example: ofSandbox,
    headers: {
      'Idempotency-Key': {
        description: 'Needed with `tools/call`: new for each execution that is wanted, and the same for its retries.',
        pattern: idempotencyPattern,
        example: exampleValues.idempotencyKey,
      },
      ...selector,
    },
    body: z.unknown().meta({ type: 'object', description: 'A message of JSON-RPC 2.0', examples: [toolCallExample] }),
    answers: {
      200: {
        description: 'A message of JSON-RPC 2.0, or a stream of them',
        body: z.unknown().meta({ type: 'object', examples: [toolResultExample] }),
        also: {
          'text/event-stream': z
            .unknown()
            .meta({ type: 'object', examples: [`event: message\ndata: ${JSON.stringify(toolResultExample)}\n\n`] }),
        },
        headers: { 'X-Service-Invocation': 'The execution id, of a call of the tool' },
      },
      202: { description: 'Taken; such a message has no answer' },
    },
    refusals: [
      'invalid_request',
      'request_too_large',
      'sandbox_not_found',
      'key_scope',
      'revision_not_active',
      'product_not_assigned',
      'mcp_disabled',
      'not_permitted',
    ],
  },
  showExecution: {
    method: 'GET',
    path: '/v1/executions/{id}',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Read an execution, as far as it has come',
    example: ofExecution,
    headers: selector,
    answers: {
      200: {
        description: 'The record',
        body: executionShape,
        headers: { 'X-Service-Invocation': 'The execution id' },
      },
    },
    refusals: ['execution_not_found', 'key_scope'],
  },
  followExecution: {
    method: 'GET',
    path: '/v1/executions/{id}/progress',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Follow an execution, regardless of who began it',
    example: ofExecution,
    description:
      'The lines of its progress behind `after`: those that there are, then the others as they come, until `complete`. Who lost the connection continues behind the last `seq` they have. Before a line may be spaces. Each look is authorised again: who may not read anymore gets a last line `refused`. Who leaves does not stop the execution.',
    headers: selector,
    query: progressQuery,
    answers: {
      200: {
        description: 'A line each',
        also: { 'application/x-ndjson': progressShape },
        headers: { 'X-Service-Invocation': 'The execution id' },
      },
    },
    refusals: ['invalid_request', 'execution_not_found', 'key_scope'],
  },
  uploadAsset: {
    method: 'POST',
    path: '/v1/assets',
    tag: 'Assets',
    by: 'key',
    summary: 'Upload an image or a sound',
    description:
      'The body is the file unchanged, at most 25,000,000 bytes, and Content-Type says what it is. It is private to the project.',
    headers: selector,
    bytes: media,
    answers: { 201: { description: 'Kept; this is the value that names it in an input', body: assetShape } },
    refusals: ['invalid_request', 'insufficient_budget', 'quota_reached', 'request_too_large'],
  },
  showAsset: {
    method: 'GET',
    path: '/v1/assets/{id}',
    tag: 'Assets',
    by: 'key',
    summary: 'Read the bytes of an asset',
    example: { path: { id: exampleIds.asset } },
    headers: { ...range, ...selector },
    answers: { 200: { description: 'All of them', also: anyMedia }, 206: partOf(anyMedia) },
    refusals: ['asset_not_found', 'range_not_satisfiable'],
  },
} as const satisfies Record<string, ApiRoute>
