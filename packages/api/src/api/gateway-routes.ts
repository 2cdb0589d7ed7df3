import { admissionCheck, checkBody } from '../admission-check.ts'
import { chatBody } from '../chat-request.ts'
import { embeddingsBody, embeddingsShape } from '../embeddings.ts'
import { invocationRecord } from '../console/money.ts'
import { exampleIds } from '../example-ids.ts'
import { keyStatus } from '../key-status.ts'
import { embeddingModelExample, modelEntry, modelList } from '../model-entry.ts'
import { chunkShape, completionShape } from './answer-shapes.ts'
import { countTokensBody, messagesBody } from '../wires/messages/messages-body.ts'
import {
  messageErrorShape,
  messageEventShape,
  messageShape,
  tokenCountShape,
} from '../wires/messages/messages-shapes.ts'
import { responsesBody } from '../wires/responses/responses-body.ts'
import { responseEventShape, responseShape } from '../wires/responses/responses-shapes.ts'
import type { ApiRoute, HeaderField } from './api-route.ts'
import { idempotencyKeyLimits } from '../limits.ts'

/** A consistency check only (rules §2.7). */
export const selector: Record<string, HeaderField> = {
  'X-Service-Project': {
    description: 'May only repeat the project that the key is bound to. X-Project-ID is an alias.',
  },
}

/** Of what costs money, and its check: the tag as well (rules §2.12). */
export const selectorAndTag: Record<string, HeaderField> = {
  ...selector,
  'X-Service-Tag': {
    description: 'What the call is for, as usage and budgets count it. A key with a tag accepts no other one.',
  },
}

const { min, max } = idempotencyKeyLimits
export const idempotencyPattern = `^[\\x21-\\x7e]{${min},${max}}$`

/** Headers of a call of a model, on any wire. */
const callHeaders = {
  'Idempotency-Key': {
    description:
      'A repeat with the same key returns the saved response, byte for byte, with `Idempotent-Replayed: true` and no second charge; while the first call runs, a repeat waits for it. A key names one call, regardless of its model. A response larger than 1 MB is charged but not saved: a repeat is then refused with `answer_not_kept`. A stream is saved as it was sent, even if truncated, up to 8 MB.',
    pattern: idempotencyPattern,
  },
  ...selectorAndTag,
}

const callAnswerHeaders = {
  'X-Service-Invocation': 'The invocation ID, which identifies the call in usage and charges, and for support',
  'Idempotent-Replayed': '`true` on a saved response',
}

const callRefusals = [
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
  'budget_reached',
  'tag_mismatch',
  'insufficient_budget',
  'rate_limited',
  'provider_failed',
  'provider_timeout',
] as const

/** A chat may call a sandbox product, which is an execution (rules §2.9). */
const chatRefusals = [
  ...callRefusals,
  'ceiling_reached',
  'no_worker',
  'node_failed',
  'expression_failed',
  'value_too_large',
  'output_too_large',
  'output_missing',
  'execution_timeout',
  'execution_cancelled',
] as const

/** Routes that a key calls. */
export const gatewayRoutes = {
  completeChat: {
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'Models',
    by: 'key',
    summary: 'Complete a chat',
    description: [
      'The max cost is reserved before the call, and actual usage is charged after it. A call without a response is not charged.',
      'Messages and forwarded parameters together have at most 128,000 bytes as compact JSON, not counting the data of images and files. The request must fit the limits of the model; otherwise it is refused with `context_limit`.',
      'An image is a `data:` URL, or `asset:` followed by the ID of an asset of the project, or, if `image_input.https` of the model is true, an `https:` URL that its provider fetches. One image has at most `image_input.max_bytes`; a request has at most `image_input.max_count` images and 15 MiB of data.',
      'A file is a PDF as a `data:` URL, or `asset:` followed by the ID of an asset of the project, for models that list `file` in their `input_modalities`; a request has at most 10. A call with files reserves the whole context of the model, and is charged for the tokens used.',
      'A sandbox product with one text input and one text output is called like a model: its text arrives in one piece, in a stream as one chunk, and `service` names the execution. Any other sandbox product is refused with `sandbox_contract`.',
      'Fields not listed in `supported_parameters` of the model are refused, except `temperature`, `top_p` and `seed`, which are ignored.',
      'If the provider truncates a stream, it ends with an event `{"error": …}` and without `[DONE]`.',
    ].join('\n\n'),
    headers: callHeaders,
    body: chatBody,
    answers: {
      200: {
        description: 'The response. With `stream`: server-sent events, one per chunk, the last one `[DONE]`.',
        body: completionShape,
        also: { 'text/event-stream': chunkShape },
        headers: callAnswerHeaders,
      },
    },
    refusals: chatRefusals,
  },
  createResponse: {
    method: 'POST',
    path: '/v1/responses',
    tag: 'Models',
    by: 'key',
    summary: 'Create a response',
    description: [
      'The Responses wire: the same call as `POST /v1/chat/completions`, with the same models, limits, refusals and charges. Function and custom tools work; tools that run at OpenAI are refused.',
      'Nothing is stored: `store` has no effect, and `previous_response_id`, `conversation` and item references are refused. Send the items of the conversation in `input`; reasoning items are accepted back unchanged.',
      'If the provider truncates a stream, it ends with `response.failed` and an event `error`.',
    ].join('\n\n'),
    headers: callHeaders,
    body: responsesBody,
    answers: {
      200: {
        description: 'The response. With `stream`: its events.',
        body: responseShape,
        also: { 'text/event-stream': responseEventShape },
        headers: callAnswerHeaders,
      },
    },
    refusals: chatRefusals,
  },
  createMessage: {
    method: 'POST',
    path: '/v1/messages',
    tag: 'Models',
    by: 'key',
    summary: 'Create a message',
    description: [
      'The Messages wire: the same call as `POST /v1/chat/completions`, with the same models, limits, refusals and charges. The key is accepted in `x-api-key` as well; `anthropic-version` and `anthropic-beta` have no effect.',
      'Tools that a client runs work; tools that Anthropic defines are refused. Thinking blocks are accepted back unchanged.',
      'A refusal has the shape of this wire: `{ "type": "error", "error": … }`, with our `code` and `resolution`. If the provider truncates a stream, it ends with an `error` event.',
    ].join('\n\n'),
    headers: callHeaders,
    body: messagesBody,
    answers: {
      200: {
        description: 'The message. With `stream`: its events.',
        body: messageShape,
        also: { 'text/event-stream': messageEventShape },
        headers: callAnswerHeaders,
      },
    },
    refusals: chatRefusals,
    refusalShape: messageErrorShape,
  },
  countMessageTokens: {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    tag: 'Models',
    by: 'key',
    summary: 'Count the tokens of a message',
    description:
      'Our own count of the text of a request, without its images and files. It reserves and charges nothing.',
    headers: selector,
    body: countTokensBody,
    answers: { 200: { description: 'The count', body: tokenCountShape } },
    refusals: ['invalid_json', 'invalid_request', 'request_too_large', 'model_not_found'],
    refusalShape: messageErrorShape,
  },
  createEmbeddings: {
    method: 'POST',
    path: '/v1/embeddings',
    tag: 'Models',
    by: 'key',
    summary: 'Compute embeddings',
    description: [
      'One vector for each input, in order. The max cost is reserved before the call, and the prompt tokens that the provider reports are charged after it. A call without a response is not charged.',
      'A request has at most 2,048 inputs: texts of at most 64 KB each and 384 KB in all, or token arrays of at most 16,384 tokens each and 40,000 in all. `dimensions` needs a model that lists it in `supported_parameters`.',
    ].join('\n\n'),
    headers: callHeaders,
    body: embeddingsBody,
    answers: { 200: { description: 'The vectors', body: embeddingsShape, headers: callAnswerHeaders } },
    refusals: callRefusals.filter((code) => code !== 'sandbox_contract' && code !== 'asset_not_found'),
  },
  listEmbeddingModels: {
    method: 'GET',
    path: '/v1/embeddings/models',
    tag: 'Models',
    by: 'key',
    summary: 'List the embedding models that this key can call now',
    description: 'They are not among `GET /v1/models`, which lists chat models.',
    example: { answer: { object: 'list', data: [embeddingModelExample] } },
    headers: selector,
    answers: { 200: { description: 'The models', body: modelList } },
  },
  listModels: {
    method: 'GET',
    path: '/v1/models',
    tag: 'Models',
    by: 'key',
    summary: 'List the models that this key can call now',
    description:
      'An empty list means that nothing is assigned to the project yet. Repeating the request does not help; an administrator has to assign a model.',
    headers: selector,
    answers: { 200: { description: 'The models', body: modelList } },
  },
  readModel: {
    method: 'GET',
    path: '/v1/models/{id}',
    tag: 'Models',
    by: 'key',
    summary: 'Read a model',
    parameters: { id: 'May contain slashes, percent-encoded or plain' },
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
    summary: 'Read this key and its remaining limit',
    headers: selector,
    answers: { 200: { description: 'The key', body: keyStatus } },
  },
  checkKey: {
    method: 'POST',
    path: '/v1/key/check',
    tag: 'Models',
    by: 'key',
    summary: 'Test whether a call would be admitted',
    description: [
      'Decides like the admission of the call, but reserves and writes nothing: the bound, each rule in order, and the refusal that the call would get. It cannot predict what other calls reserve in the meantime, and ignores rate limits, load, and the replay of an `Idempotency-Key`.',
      'Describe the prompt by its bytes or as `messages`. Only `messages` are counted in tokens if their bytes alone would be refused.',
    ].join('\n\n'),
    headers: selectorAndTag,
    body: checkBody,
    answers: { 200: { description: 'The decision', body: admissionCheck } },
    refusals: ['invalid_json', 'invalid_request', 'request_too_large'],
  },
  showInvocation: {
    method: 'GET',
    path: '/v1/invocations/{id}',
    tag: 'Models',
    by: 'key',
    summary: 'Read the charge of a call of this key',
    description:
      'A call of this key, or of a key that it replaced or that replaced it, including calls of nodes. `chargedMicro` is final once `state` is not `Open`; until then it can be at most `reservedMicro`.',
    parameters: { id: 'The value of `X-Service-Invocation` in the response' },
    example: { path: { id: exampleIds.invocation } },
    headers: selector,
    answers: {
      200: {
        description: 'The call, with the state of its latest attempt',
        body: invocationRecord,
        headers: { 'X-Service-Invocation': 'The invocation ID' },
      },
    },
    refusals: ['invocation_not_found', 'invocation_archived'],
  },
} as const satisfies Record<string, ApiRoute>
