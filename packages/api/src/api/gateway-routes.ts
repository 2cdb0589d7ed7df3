import { admissionCheck, checkBody } from '../admission-check.ts'
import { chatBody } from '../chat-request.ts'
import { invocationRecord } from '../console/money.ts'
import { exampleIds } from '../example-ids.ts'
import { keyStatus } from '../key-status.ts'
import { modelEntry, modelList } from '../model-entry.ts'
import { chunkShape, completionShape } from './answer-shapes.ts'
import type { ApiRoute } from './api-route.ts'
import { idempotencyPattern, selector } from './key-headers.ts'

/** Routes that a key calls. */
export const gatewayRoutes = {
  completeChat: {
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'Models',
    by: 'key',
    summary: 'Complete a chat',
    description: [
      'An upper bound of the price is reserved before the call and what it used is charged after it. A call that gets no answer is not charged.',
      'Messages and forwarded parameters together are at most 128,000 bytes as compact JSON, the data of images apart; the request must fit the limits of the model, else `context_limit`.',
      'An image is a `data:` URL, `asset:` and the id of an asset of the project, or, where `image_input.https` of the model says so, an `https:` address that its provider fetches. One image has at most `image_input.max_bytes`, a request `image_input.max_count` of them and 15 MiB of images together.',
      'A sandbox product that takes one text and answers one is called like a model: its text comes whole, in one chunk of a stream, and `service` says which execution it was. Another one is `sandbox_contract`.',
      'Fields that `supported_parameters` of the model does not list are refused, but `temperature`, `top_p` and `seed`, which are ignored then.',
      'A stream whose provider breaks off ends with an event `{"error": …}` and without `[DONE]`.',
    ].join('\n\n'),
    headers: {
      'Idempotency-Key': {
        description:
          'Repeating a key answers what was saved, byte for byte, with `Idempotent-Replayed: true` and no second charge; while the first call runs, a repeat waits for it. A key names one call, regardless of its model. An answer larger than 1 MB is charged and not kept: a repeat is then `answer_not_kept`. A stream is kept as it was sent, also one that broke off, up to 8 MB.',
        pattern: idempotencyPattern,
      },
      ...selector,
    },
    body: chatBody,
    answers: {
      200: {
        description: 'The answer; with `stream` as server-sent events, a chunk each, the last of them `[DONE]`.',
        body: completionShape,
        also: { 'text/event-stream': chunkShape },
        headers: {
          'X-Service-Invocation': 'The invocation id, under which usage, charges and support know the call',
          'Idempotent-Replayed': '`true` on a saved answer',
        },
      },
    },
    refusals: [
      'invalid_json',
      'invalid_request',
      'idempotency_key_invalid',
      'request_too_large',
      'model_not_found',
      'key_scope',
      'idempotency_mismatch',
      'idempotency_in_progress',
      'answer_not_kept',
      'context_limit',
      'sandbox_contract',
      'asset_not_found',
      'key_limit',
      'insufficient_budget',
      'rate_limited',
      'provider_failed',
      'provider_timeout',
    ],
  },
  listModels: {
    method: 'GET',
    path: '/v1/models',
    tag: 'Models',
    by: 'key',
    summary: 'List the models that this key can call now',
    description:
      'An empty list is a valid answer: nothing is assigned to the project yet, which an administrator resolves, and repeating does not.',
    headers: selector,
    answers: { 200: { description: 'The models', body: modelList } },
  },
  readModel: {
    method: 'GET',
    path: '/v1/models/{id}',
    tag: 'Models',
    by: 'key',
    summary: 'Read one of them',
    parameters: { id: 'May hold slashes, percent-encoded or as they are' },
    example: { path: { id: exampleIds.product } },
    restParameter: 'id',
    headers: selector,
    answers: { 200: { description: 'The model', body: modelEntry } },
    refusals: ['model_not_found'],
  },
  readKeyStatus: {
    method: 'GET',
    path: '/v1/key',
    tag: 'Models',
    by: 'key',
    summary: 'Read what this key is and what is left of its limit',
    headers: selector,
    answers: { 200: { description: 'The key', body: keyStatus } },
  },
  checkKey: {
    method: 'POST',
    path: '/v1/key/check',
    tag: 'Models',
    by: 'key',
    summary: 'Ask whether a call would be admitted now',
    description: [
      'Decides as the admission of the call would, and reserves and writes nothing: the bound, each rule in its order, and what the call would be refused with. What other calls reserve in the next moment it does not know; rates and load are not looked at, nor what an `Idempotency-Key` would replay.',
      'The prompt is given by its bytes or as `messages`; only these are counted where their bytes alone would be refused.',
    ].join('\n\n'),
    headers: selector,
    body: checkBody,
    answers: { 200: { description: 'What would be decided', body: admissionCheck } },
    refusals: ['invalid_json', 'invalid_request', 'request_too_large'],
  },
  showInvocation: {
    method: 'GET',
    path: '/v1/invocations/{id}',
    tag: 'Models',
    by: 'key',
    summary: 'Read what a call of this key was charged',
    description:
      'A call of this key, or of one that it has replaced or that has replaced it; calls of nodes among them. `chargedMicro` is final once `state` is not `Open`; until then `reservedMicro` is the most that it can be.',
    parameters: { id: 'As in `X-Service-Invocation` of the answer' },
    example: { path: { id: exampleIds.invocation } },
    headers: selector,
    answers: {
      200: {
        description: 'The call, as its newest attempt stands',
        body: invocationRecord,
        headers: { 'X-Service-Invocation': 'The invocation id' },
      },
    },
    refusals: ['invocation_not_found', 'invocation_archived'],
  },
} as const satisfies Record<string, ApiRoute>
