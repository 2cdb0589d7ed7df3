import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { cancelledExample, executionExample, inputExample } from '../execution-examples.ts'
import { invokeBody } from '../invoke-request.ts'
import type { ApiRoute } from './api-route.ts'
import { assetShape, executionShape, progressQuery, progressShape } from '../execution.ts'
import { estimateBody, sandboxEstimate } from '../estimate.ts'
import { mediaTypes } from '../media-type.ts'
import { bytesShape } from './answer-shapes.ts'
import { idempotencyPattern, selector, selectorAndTag } from './gateway-routes.ts'

const images = { 'image/png': bytesShape, 'image/jpeg': bytesShape, 'image/webp': bytesShape }
export const anyMedia = Object.fromEntries(mediaTypes.map((type) => [type, bytesShape]))
export const range = { Range: { description: 'One range of bytes, such as `bytes=0-1023`' } }
export const partOf = <const Also extends Record<string, z.ZodType>>(also: Also) => ({
  description: 'The bytes requested by `Range`',
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

const notAcceptableExample = {
  jsonrpc: '2.0',
  error: {
    code: -32000,
    message:
      'Not Acceptable: Client must accept both application/json and text/event-stream. Send the header Accept: application/json, text/event-stream.',
    data: { resolution: 'Send the header Accept: application/json, text/event-stream.' },
  },
  id: null,
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
      'Runs the active revision. The response is the record of the execution, even if it failed. Each paid node is charged like a direct call, and nothing else is charged.',
      'With `Accept: application/x-ndjson` the response is the progress of the execution, one JSON object per line; a line may start with spaces. Disconnecting does not stop the execution. Every read is authorized again: a caller who loses access gets a last line `refused`.',
      'Without `Accept`, or with `*/*`, a successful execution whose contract has one image as its output returns that image. It supports `Range`.',
      'Pass an image or audio as `{ "asset": "ast_…" }`, an asset of the project.',
    ].join('\n\n'),
    parameters: sandboxId,
    headers: {
      'Idempotency-Key': {
        description:
          'Use a new key for each new execution, and the same key for its retries: a repeat returns the same execution, charged once, with `Idempotent-Replayed: true`.',
        required: true,
        pattern: idempotencyPattern,
        example: exampleValues.idempotencyKey,
      },
      ...range,
      ...selectorAndTag,
    },
    body: invokeBody,
    answers: {
      200: {
        description: 'The record, the progress, or the image',
        body: executionShape,
        also: { 'application/x-ndjson': progressShape, ...images },
        headers: {
          'X-Service-Invocation': 'The execution ID',
          'Idempotent-Replayed': '`true` if the execution had already started',
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
      'budget_reached',
      'tag_mismatch',
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
    summary: 'Estimate the max cost of an execution',
    example: ofSandbox,
    description:
      'For the active revision with this input, at current prices: the reservations along the most expensive path through the flow. Nothing is started or reserved. With this amount as `maxMicro`, no node is refused as long as prices stay the same.',
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
    summary: 'Stop an execution, regardless of who started it',
    description:
      'No further node starts, and calls in progress are aborted: a call that was answered is charged, any other is not. The response is the current record: `Cancelled`, or still `Running` with the error `execution_cancelled` until the last call has ended. An execution that has ended or is already failing stays unchanged and is returned too, so the request may be repeated.',
    parameters: sandboxId,
    example: { ...ofSandbox, answer: cancelledExample },
    headers: selector,
    answers: {
      200: {
        description: 'The record',
        body: executionShape,
        headers: { 'X-Service-Invocation': 'The execution ID' },
      },
    },
    refusals: ['execution_not_found', 'key_scope'],
  },
  serveMcp: {
    method: 'POST',
    path: '/v1/sandbox/{id}/mcp',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Call a sandbox product over MCP',
    description:
      'Stateless Streamable HTTP, with one tool, `invoke_product`. Requires that MCP is enabled for the sandbox product. An error of a tool call that the caller can fix is a result with `isError`.',
    parameters: sandboxId,
    example: ofSandbox,
    headers: {
      'Idempotency-Key': {
        description: 'Required with `tools/call`: a new key for each new execution, and the same key for its retries.',
        pattern: idempotencyPattern,
        example: exampleValues.idempotencyKey,
      },
      ...selectorAndTag,
    },
    body: z.unknown().meta({ type: 'object', description: 'A JSON-RPC 2.0 message', examples: [toolCallExample] }),
    answers: {
      200: {
        description: 'A JSON-RPC 2.0 message, or a stream of them',
        body: z.unknown().meta({ type: 'object', examples: [toolResultExample] }),
        also: {
          'text/event-stream': z
            .unknown()
            .meta({ type: 'object', examples: [`event: message\ndata: ${JSON.stringify(toolResultExample)}\n\n`] }),
        },
        headers: { 'X-Service-Invocation': 'The execution ID of a tool call' },
      },
      202: { description: 'Accepted; such a message has no response' },
      406: {
        description: 'The `Accept` header lacks `application/json` or `text/event-stream`: an error of JSON-RPC',
        body: z.unknown().meta({ type: 'object', examples: [notAcceptableExample] }),
      },
    },
    refusals: [
      'invalid_json',
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
    summary: 'Read the current state of an execution',
    example: ofExecution,
    headers: selector,
    answers: {
      200: {
        description: 'The record',
        body: executionShape,
        headers: { 'X-Service-Invocation': 'The execution ID' },
      },
    },
    refusals: ['execution_not_found', 'key_scope'],
  },
  followExecution: {
    method: 'GET',
    path: '/v1/executions/{id}/progress',
    tag: 'Sandbox products',
    by: 'key',
    summary: 'Follow an execution, regardless of who started it',
    example: ofExecution,
    description:
      'The progress lines after `after`: first the existing ones, then new ones as they arrive, until `complete`. After a lost connection, continue with the last `seq` received. A line may start with spaces. Every read is authorized again: a caller who loses access gets a last line `refused`. Disconnecting does not stop the execution.',
    headers: selector,
    query: progressQuery,
    answers: {
      200: {
        description: 'One JSON object per line',
        also: { 'application/x-ndjson': progressShape },
        headers: { 'X-Service-Invocation': 'The execution ID' },
      },
    },
    refusals: ['invalid_request', 'execution_not_found', 'key_scope'],
  },
  uploadAsset: {
    method: 'POST',
    path: '/v1/assets',
    tag: 'Assets',
    by: 'key',
    summary: 'Upload an image, audio or PDF file',
    description:
      'The body is the file itself, at most 25,000,000 bytes; Content-Type names its type. The asset is private to the project.',
    headers: selector,
    bytes: mediaTypes,
    answers: { 201: { description: 'Stored; this value names the asset in an input', body: assetShape } },
    refusals: ['invalid_request', 'insufficient_budget', 'quota_reached', 'request_too_large'],
  },
  showAsset: {
    method: 'GET',
    path: '/v1/assets/{id}',
    tag: 'Assets',
    by: 'key',
    summary: 'Download an asset',
    example: { path: { id: exampleIds.asset } },
    headers: { ...range, ...selector },
    answers: { 200: { description: 'The whole file', also: anyMedia }, 206: partOf(anyMedia) },
    refusals: ['asset_not_found', 'range_not_satisfiable'],
  },
} as const satisfies Record<string, ApiRoute>
