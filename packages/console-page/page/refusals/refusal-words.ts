import type { RefusalCode } from '@gateway/api/refusal'

/** Where in the console it can be cleared. */
export type Remedy = 'create-key' | 'keys' | 'assign' | 'wallet' | 'flows'

interface Words {
  said: string
  clears: string
  remedy?: Remedy
}

/** What the refusals of calls with keys say when nothing of the single case is known, and what clears them. */
const words: Partial<Record<RefusalCode, Words>> = {
  invalid_json: { said: 'The body was no JSON.', clears: 'The caller sends one JSON object, as UTF-8.' },
  duplicate_header: { said: 'A header was sent twice.', clears: 'The caller sends each header once.' },
  invalid_request: {
    said: 'A field was missing or not as the route takes it.',
    clears: 'The caller mends the field that the answer names as param.',
  },
  idempotency_key_required: {
    said: 'A call came without its Idempotency-Key.',
    clears: 'The caller sends one, new for each intended execution and the same for its retries.',
  },
  idempotency_key_invalid: {
    said: 'The Idempotency-Key was too short, too long or not plain text.',
    clears: 'The caller sends 8 to 128 visible ASCII characters, such as a UUID.',
  },
  idempotency_in_progress: {
    said: 'A call was repeated while the first one still ran.',
    clears: 'The caller repeats it after Retry-After.',
  },
  idempotency_mismatch: {
    said: 'An Idempotency-Key came again with another request.',
    clears: 'The caller sends a new key for each new request.',
  },
  answer_not_kept: {
    said: 'A call was repeated whose answer was too large to be kept.',
    clears: 'The caller sends a new Idempotency-Key, which makes a new call.',
  },
  key_revoked: {
    said: 'The key was revoked, or rotated.',
    clears: 'The caller uses the secret of its replacement, or of a new key.',
    remedy: 'create-key',
  },
  key_expired: { said: 'The key has expired.', clears: 'A new key, for its caller.', remedy: 'create-key' },
  key_unbound: {
    said: 'The key is from before keys were bound to projects.',
    clears: 'A new key, for its caller.',
    remedy: 'create-key',
  },
  key_issuer_denied: {
    said: 'Whoever made the key may no longer issue keys.',
    clears: 'Their membership, team role and grant are restored, or somebody who has all three makes a new key.',
    remedy: 'create-key',
  },
  key_scope: {
    said: 'The key may not call what was asked for.',
    clears: 'A call of what the key lists, or a key that lists this, too.',
    remedy: 'create-key',
  },
  key_limit: {
    said: "The call did not fit into the key's spending limit.",
    clears: 'The next window of the limit, a smaller call, or a key with a higher limit.',
    remedy: 'create-key',
  },
  insufficient_budget: {
    said: "The call did not fit into the project's wallet.",
    clears: 'The platform operator funds the project, running calls settle, or the caller asks for fewer tokens.',
    remedy: 'wallet',
  },
  ceiling_reached: {
    said: 'A call did not fit under the ceiling of its execution.',
    clears: 'The caller runs it again with a higher maxMicro, or with none.',
  },
  project_mismatch: {
    said: 'The request named another project than that of its key.',
    clears: 'The caller leaves the project out, or uses a key of the other one.',
    remedy: 'keys',
  },
  product_not_assigned: {
    said: 'The project can not use this model now.',
    clears: 'An administrator assigns the model, or the caller names another one.',
    remedy: 'assign',
  },
  model_not_found: {
    said: 'No model of this name can be called here.',
    clears: 'The caller uses an id from GET /v1/models, or an administrator assigns the one that is missing.',
    remedy: 'assign',
  },
  sandbox_not_found: {
    said: 'The project has no flow of this id.',
    clears: 'The caller uses an id of a flow of this project.',
    remedy: 'flows',
  },
  revision_not_active: {
    said: 'The flow has no such active revision, or is suspended.',
    clears: 'A revision is activated, or the caller leaves the revision out.',
    remedy: 'flows',
  },
  mcp_disabled: { said: 'The flow is not offered over MCP.', clears: 'Its MCP is enabled.', remedy: 'flows' },
  sandbox_contract: {
    said: 'The flow does not take one text and answer one.',
    clears: 'The caller invokes it with an input object, or its contract is changed.',
    remedy: 'flows',
  },
  input_type: {
    said: 'The input did not fit the contract of the flow.',
    clears: 'The caller sends an input that fits its schema.',
    remedy: 'flows',
  },
  execution_not_found: { said: 'There is no such execution.', clears: 'The caller checks the id.' },
  asset_not_found: { said: 'There is no such asset.', clears: 'The caller checks the id, or uploads the file.' },
  not_found: { said: 'There is nothing at this path.', clears: 'The caller checks the path and the ids in it.' },
  request_too_large: { said: 'The body was too large.', clears: 'The caller sends less at once.' },
  context_limit: {
    said: 'Prompt and answer did not fit into the context of the model.',
    clears: 'The caller shortens the messages, or asks for a smaller max_tokens.',
  },
  rate_limited: {
    said: 'Too many requests came in a short time.',
    clears: 'The caller waits for Retry-After, and sends fewer a second.',
  },
  provider_failed: {
    said: 'The model failed to answer. Nothing was charged.',
    clears: 'The caller repeats the request, or names another model.',
  },
  provider_timeout: {
    said: 'The model did not answer in time. Nothing was charged.',
    clears: 'The caller repeats the request, or asks for a smaller max_tokens.',
  },
  no_worker: { said: 'No worker was free in time.', clears: 'The caller repeats the request after some seconds.' },
  overloaded: { said: 'The service was full.', clears: 'The caller repeats the request after Retry-After.' },
  unavailable: { said: 'A part of the service was away.', clears: 'The caller repeats the request after Retry-After.' },
}

const others: Words = { said: 'The request was refused.', clears: 'The page of the code says what clears it.' }

export function wordsOf(code: string): Words {
  return words[code as RefusalCode] ?? others
}
