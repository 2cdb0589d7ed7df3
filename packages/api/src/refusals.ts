// Every refusal of the service: one row a code, with its message and with what clears it (rules §2.1, §2.4).
// A row without a resolution does not compile.

export type RefusalType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'insufficient_funds_error'
  | 'rate_limit_error'
  | 'api_error'

export interface RefusalRow {
  status: number
  type: RefusalType
  // oxlint-disable-next-line typescript/no-explicit-any -- each row has its own facts; `FactsOf` gives them back typed
  message: (facts: any) => string
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  resolution: (facts: any) => string
  /** Where waiting helps: when to ask again, unless whoever refuses knows the moment better. Milliseconds, told as Retry-After. */
  retryAfterMs?: number
}
type RefusalTable = Record<string, RefusalRow>

interface Nothing {
  readonly nothing?: never
}
interface Reason {
  /** One sentence that says what is wrong. */
  reason: string
  /** One sentence that says what to send instead. */
  resolution: string
}
interface KeyLimitFacts {
  reset: 'daily' | 'weekly' | 'monthly' | 'lifetime'
  limitMicro: number
  spentMicro: number
  reservedMicro: number
  neededMicro: number
  /** When the window ends; null for a lifetime. */
  resetsAt: string | null
}
interface CeilingFacts {
  maxMicro: number
  chargedMicro: number
  reservedMicro: number
  neededMicro: number
}

const text = (sentence: string) => (_: Nothing) => sentence
const someOf = (names: string[]) => (names.length > 5 ? [...names.slice(0, 5), '…'] : names).join(', ')

export const refusals = {
  // 400: malformed or out of bounds, whatever the state
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: (f: { reason: string }) => `The request body is not valid JSON: ${f.reason}.`,
    resolution: text('Send one JSON object, encoded as UTF-8, with Content-Type: application/json.'),
  },
  duplicate_header: {
    status: 400,
    type: 'invalid_request_error',
    message: (f: { header: string }) => `The header ${f.header} was sent more than once.`,
    resolution: (f: { header: string }) => `Send ${f.header} exactly once.`,
  },
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: (f: Reason) => f.reason,
    resolution: (f: Reason) => f.resolution,
  },
  idempotency_key_required: {
    status: 400,
    type: 'invalid_request_error',
    message: text('This call needs an Idempotency-Key header.'),
    resolution: text(
      'Send Idempotency-Key with 8 to 128 visible ASCII characters, new for each intended execution and the same for its retries.',
    ),
  },
  idempotency_key_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: text('The Idempotency-Key header is not 8 to 128 visible ASCII characters.'),
    resolution: text('Send Idempotency-Key with 8 to 128 visible ASCII characters, for example a UUID.'),
  },

  // 401: who is calling?
  key_missing: {
    status: 401,
    type: 'authentication_error',
    message: text('No API key was sent.'),
    resolution: text('Send the header Authorization: Bearer <API_KEY> with a key that starts with svc_.'),
  },
  key_invalid: {
    status: 401,
    type: 'authentication_error',
    message: text('This API key is not known.'),
    resolution: text(
      'Check that the whole key was copied; if its secret is lost, revoke it and create a new one in the console.',
    ),
  },
  key_revoked: {
    status: 401,
    type: 'authentication_error',
    message: (f: { rotatedTo: string | null }) =>
      f.rotatedTo ? 'This API key was rotated and no longer works.' : 'This API key was revoked.',
    resolution: (f: { rotatedTo: string | null }) =>
      f.rotatedTo ? `Use the secret of its replacement, the key ${f.rotatedTo}.` : 'Create a new key in the console.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    message: (f: { expiredAt: string }) => `This API key expired at ${f.expiredAt}.`,
    resolution: text('Create a new key in the console.'),
  },
  session_missing: {
    status: 401,
    type: 'authentication_error',
    message: text('Nobody is signed in.'),
    resolution: text(
      'Sign in at POST /api/v2/session, or send Authorization: Bearer <personal token> with a token that starts with svu_.',
    ),
  },
  token_invalid: {
    status: 401,
    type: 'authentication_error',
    message: text('This token is not known, or has expired.'),
    resolution: text(
      'Check that the whole token was copied, or sign in at POST /api/v2/session and make a new one; a token of an organization or project is made anew by its Admin or Project Owner.',
    ),
  },
  sign_in_failed: {
    status: 401,
    type: 'authentication_error',
    message: text('This e-mail and password do not belong together.'),
    resolution: text('Check both, or ask an administrator of your organization for a new password.'),
  },

  // 402
  insufficient_budget: {
    status: 402,
    type: 'insufficient_funds_error',
    message: (f: { neededMicro: number; availableMicro: number }) =>
      f.availableMicro > 0
        ? `This call may cost up to ${f.neededMicro} micro-USD and the project's wallet has ${f.availableMicro} micro-USD available.`
        : "The project's wallet has nothing available, and without funds nothing can be called, whatever it costs.",
    resolution: (f: { affordableMaxTokens: number; reservedMicro: number }) =>
      [
        'Ask the platform operator to fund the project',
        ...(f.reservedMicro > 0 ? ['wait until running calls settle'] : []),
        ...(f.affordableMaxTokens > 0 ? [`ask for at most ${f.affordableMaxTokens} max_tokens`] : []),
      ].join(', or ') + '.',
  },
  ceiling_reached: {
    status: 402,
    type: 'insufficient_funds_error',
    message: (f: CeilingFacts) =>
      `This call may cost up to ${f.neededMicro} micro-USD; of the ceiling of its execution, ${f.maxMicro} micro-USD, ${f.chargedMicro} are charged and ${f.reservedMicro} reserved.`,
    resolution: (f: CeilingFacts) =>
      `Run it again with a maxMicro of ${f.chargedMicro + f.reservedMicro + f.neededMicro} or more, or with none.`,
  },

  // 403: known, and not allowed
  key_issuer_denied: {
    status: 403,
    type: 'permission_error',
    message: (f: { use: boolean }) =>
      f.use
        ? 'The user who created this key no longer has the permissions that a key needs.'
        : 'You lack one of the permissions that issuing a key for this project needs.',
    resolution: text(
      'The creator needs an active membership of the organization, a role in the team that owns the project (Team Owner or Team Member) and a grant on the project (Project Owner or Project Consumer); an Admin can restore the first two and a Project Owner the third, or somebody who holds all three can issue a key.',
    ),
  },
  key_unbound: {
    status: 403,
    type: 'permission_error',
    message: text('This key is from before keys were bound to projects and can call nothing.'),
    resolution: text('Create a new key for a project in the console; the console shows this one as Needs reissue.'),
  },
  project_mismatch: {
    status: 403,
    type: 'permission_error',
    message: (f: { project: string }) =>
      `The request names another project than the one this key is bound to, ${f.project}.`,
    resolution: text(
      'Leave out X-Service-Project, X-Project-ID and project_id, or use a key of the project that they name.',
    ),
  },
  key_scope: {
    status: 403,
    type: 'permission_error',
    message: (f: { resource: string }) => `This key's allowlist does not contain ${f.resource}.`,
    resolution: text('Call a resource that the key lists, or create a key whose allowlist contains this one.'),
  },
  key_limit: {
    status: 403,
    type: 'permission_error',
    message: (f: KeyLimitFacts) =>
      f.neededMicro > f.limitMicro
        ? `This call may cost up to ${f.neededMicro} micro-USD, more than this key's whole ${f.reset} spending limit.`
        : `This key has reached its ${f.reset} spending limit of ${f.limitMicro} micro-USD.`,
    resolution: (f: KeyLimitFacts) =>
      f.neededMicro > f.limitMicro
        ? 'Ask for less (a shorter prompt, a smaller max_tokens), or issue a key with a higher limit.'
        : f.resetsAt
          ? `Wait until the window resets at ${f.resetsAt}, or issue a key with a higher limit.`
          : 'Issue a key with a higher limit; a lifetime limit does not reset.',
  },
  product_not_assigned: {
    status: 403,
    type: 'permission_error',
    message: (f: { product: string }) =>
      `This project can not call the product ${f.product} now: it is not assigned, or it is not published.`,
    resolution: text(
      'Ask an administrator of the organization to assign the product to the project, or use another product where this one is not published.',
    ),
  },
  not_permitted: {
    status: 403,
    type: 'permission_error',
    message: (f: { need: string }) => `This needs ${f.need}.`,
    resolution: (f: { need: string }) => `Ask somebody who has ${f.need} to do this, or to give it to you.`,
  },

  mcp_disabled: {
    status: 403,
    type: 'permission_error',
    message: text('MCP is not enabled for this sandbox product.'),
    resolution: text(
      'Ask an owner of the project to enable MCP on the sandbox product, or call POST /v1/sandbox/{id}/invoke.',
    ),
  },

  // 404: not there, for this caller
  model_not_found: {
    status: 404,
    type: 'not_found_error',
    message: (f: { model: string }) => `The project cannot call a model named ${f.model} now.`,
    resolution: text('Use an id from GET /v1/models, or ask an administrator to assign the product to the project.'),
  },
  sandbox_not_found: {
    status: 404,
    type: 'not_found_error',
    message: (f: { sandbox: string }) => `The project has no sandbox product ${f.sandbox}.`,
    resolution: text('Check the id; a sandbox product answers only to its own project.'),
  },
  execution_not_found: {
    status: 404,
    type: 'not_found_error',
    message: (f: { execution: string }) => `The project has no execution ${f.execution}.`,
    resolution: text('Check the id; an execution answers only to its own project.'),
  },
  asset_not_found: {
    status: 404,
    type: 'not_found_error',
    message: (f: { asset: string }) => `The project has no asset ${f.asset}.`,
    resolution: text('Check the id, or upload the file at POST /v1/assets.'),
  },
  invocation_not_found: {
    status: 404,
    type: 'not_found_error',
    message: (f: { invocation: string }) => `This key has made no call ${f.invocation}.`,
    resolution: text(
      'Check the id: it is the X-Service-Invocation of an answer to this key, or to one that it has replaced or that has replaced it. An execution is read at GET /v1/executions/{id}.',
    ),
  },
  invocation_archived: {
    status: 404,
    type: 'not_found_error',
    message: (f: { month: string }) => `The records of invocations of ${f.month} are archived and no longer here.`,
    resolution: (f: { month: string }) =>
      `Ask whoever operates the platform to look the invocation up in the archive of ${f.month}; its charge is part of the usage of its hour.`,
  },
  statement_archived: {
    status: 404,
    type: 'not_found_error',
    message: (f: { day: string }) =>
      `What was booked up to ${f.day} was archived by a version that kept no days of it, so there is no statement of a time that begins before that day is over.`,
    resolution: (f: { first: string }) =>
      `Ask for a time that begins on ${f.first} or later, or ask whoever operates the platform for the archive.`,
  },
  usage_archived: {
    status: 404,
    type: 'not_found_error',
    message: (f: { zone: string }) =>
      `Days of ${f.zone} begin within an hour of UTC, and calls of such an hour in this time are archived.`,
    resolution: text('Ask for a later time, or for the days of a zone whose offset is whole hours, such as UTC.'),
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    message: text('There is nothing here.'),
    resolution: text(
      'Chat models are called at POST /v1/chat/completions and listed at GET /v1/models; check the path and the ids in it.',
    ),
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: (f: { method: string }) => `${f.method} is not allowed here.`,
    resolution: (f: { allow: string }) => `Use ${f.allow}.`,
  },

  // 409
  key_not_active: {
    status: 409,
    type: 'conflict_error',
    message: (f: { state: string }) => `The key is ${f.state}, so it can't be rotated or revoked.`,
    resolution: (f: { rotatedTo: string | null }) =>
      f.rotatedTo ? `Rotate or revoke its replacement, the key ${f.rotatedTo}.` : 'Create a new key.',
  },
  already_exists: {
    status: 409,
    type: 'conflict_error',
    message: (f: { what: string }) => `${f.what} exists already.`,
    resolution: text('Choose another id or name, or change the one that exists.'),
  },
  not_empty: {
    status: 409,
    type: 'conflict_error',
    message: (f: { what: string; holds: string }) => `${f.what} still holds ${f.holds}.`,
    resolution: (f: { holds: string }) => `Delete the ${f.holds} first.`,
  },
  last_admin: {
    status: 409,
    type: 'conflict_error',
    message: text('This is the only Admin of the organization.'),
    resolution: text('Make another member Admin first.'),
  },
  revision_conflict: {
    status: 409,
    type: 'conflict_error',
    message: (f: { latestRevision: number }) =>
      `The sandbox product has been saved since; its latest revision is ${f.latestRevision}.`,
    resolution: (f: { latestRevision: number }) =>
      `Read revision ${f.latestRevision}, bring your changes into it, and save with baseRevision ${f.latestRevision}.`,
  },
  revision_not_active: {
    status: 409,
    type: 'conflict_error',
    message: (f: { revision: number | null; activeRevision: number | null; suspended: boolean }) =>
      f.suspended
        ? 'The sandbox product is suspended.'
        : f.activeRevision === null
          ? 'The sandbox product has no active revision.'
          : `Revision ${f.revision} is not the active one, which is ${f.activeRevision}.`,
    resolution: (f: { activeRevision: number | null; suspended: boolean }) =>
      f.suspended
        ? 'Ask an owner of the project to lift the suspension.'
        : f.activeRevision === null
          ? 'Activate a revision in the console.'
          : 'Leave out revision, or activate the revision that you want in the console.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'conflict_error',
    message: text('The first call with this idempotency key is still running.'),
    resolution: text(
      'Repeat the same request after Retry-After seconds; it answers as soon as the first call has ended.',
    ),
    retryAfterMs: 2_000,
  },

  // 413
  request_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: (f: { limitBytes: number }) => `The request body is larger than ${f.limitBytes} bytes.`,
    resolution: (f: { limitBytes: number }) => `Send at most ${f.limitBytes} bytes.`,
  },

  // 416
  range_not_satisfiable: {
    status: 416,
    type: 'invalid_request_error',
    message: (f: { bytes: number }) =>
      `The Range header asks for bytes beyond the end of the file, which has ${f.bytes}.`,
    resolution: (f: { bytes: number }) => `Ask for a range within bytes 0 to ${f.bytes - 1}, or leave Range out.`,
  },

  // 422: well-formed, and can't be processed
  project_required: {
    status: 422,
    type: 'invalid_request_error',
    message: text('A key needs a project.'),
    resolution: text('Send the id of the project that the key is to be bound to as `project`.'),
  },
  resource_not_eligible: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { resources: string[] }) => `Not eligible resources of the project: ${f.resources.join(', ')}.`,
    resolution: text('List only products that are assigned to the project and sandbox products of the project.'),
  },
  context_limit: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { contextLength: number; maxOutputTokens: number; promptTokens: number; outputCap: number }) =>
      `This model's maximum context length is ${f.contextLength} tokens and its maximum output ${f.maxOutputTokens} tokens; the request needs up to ${f.promptTokens} tokens of input and ${f.outputCap} of output.`,
    /** `anyOutput`: what is asked for as output changes nothing. */
    resolution: (f: { anyOutput?: boolean }) =>
      f.anyOutput ? 'Shorten the messages.' : 'Shorten the messages, or ask for a smaller max_tokens.',
  },
  sandbox_contract: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { sandbox: string }) =>
      `The sandbox product ${f.sandbox} does not take exactly one text and answer exactly one, so it can't be called as a chat model.`,
    resolution: (f: { sandbox: string }) => `Call POST /v1/sandbox/${f.sandbox}/invoke with an input object.`,
  },
  input_type: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { fields: { field: string; message: string }[] }) =>
      `The input does not fit the contract: ${f.fields.map(({ field, message }) => `${field} ${message}`).join('; ')}.`,
    resolution: text('Send an input object that fits the input schema of the sandbox product. Nothing was charged.'),
  },
  graph_invalid: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { problems: { message: string }[] }) =>
      f.problems.length === 1
        ? `The graph has a problem: ${f.problems[0]?.message}`
        : `The graph has ${f.problems.length} problems.`,
    resolution: text('Mend what details.problems lists, save the graph as a new revision, and use that one.'),
  },
  rerun_differs: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { execution: string; revision: number; nodes: string[] }) =>
      `Results of the execution ${f.execution} would be taken over of nodes that are not the same in revision ${f.revision}: ${someOf(f.nodes)}.`,
    resolution: text(
      'Run from a node at or above all of them, leave out revision, or execute the revision from the start.',
    ),
  },
  idempotency_mismatch: {
    status: 422,
    type: 'invalid_request_error',
    message: text('This idempotency key was used before with another request.'),
    resolution: text('Send the same request as before, or a new Idempotency-Key.'),
  },

  answer_not_kept: {
    status: 422,
    type: 'invalid_request_error',
    message: text('The call with this idempotency key has ended, and its answer was too large to be kept.'),
    resolution: text('Send a new Idempotency-Key to make a new call, which is charged separately.'),
  },

  // 429 and above
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: text('Too many requests in a short time.'),
    resolution: text('Wait for Retry-After seconds and send fewer requests a second.'),
    retryAfterMs: 1_000,
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message: text('The service failed to handle this request. Nothing is charged for it.'),
    resolution: text('Repeat the request; if it keeps failing, send support the X-Request-Id of this answer.'),
  },
  provider_failed: {
    status: 502,
    type: 'api_error',
    message: text('The model failed to answer. Nothing is charged.'),
    resolution: text('Repeat the request, or use another model from GET /v1/models.'),
  },
  provider_timeout: {
    status: 504,
    type: 'api_error',
    message: text('The model did not answer in time. Nothing is charged.'),
    resolution: text('Repeat the request, ask for a smaller max_tokens, or use another model from GET /v1/models.'),
  },
  // Inside flows: the error of a node or of an execution, which is answered with 200. What is charged, and that a new
  // idempotency key runs it again, is said by execution.ts.
  node_failed: {
    status: 500,
    type: 'api_error',
    message: (f: { node: string }) => `The node ${f.node} could not be run.`,
    resolution: text('Run the sandbox product again; if it fails again, send support the id of the execution.'),
  },
  expression_failed: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { node: string; reason: string }) => `The expression of node ${f.node} failed: ${f.reason}.`,
    resolution: text('Send another input, or change the expression so that it holds for this one.'),
  },
  value_too_large: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { node: string; port: string; limitBytes: number }) =>
      `The value of port ${f.port} of node ${f.node} is larger than ${f.limitBytes} bytes.`,
    resolution: text('Send a smaller input, or ask the models of the flow for shorter answers.'),
  },
  output_too_large: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { limitBytes: number }) => `The output of the execution is larger than ${f.limitBytes} bytes.`,
    resolution: text('Send a smaller input, or change the flow so that it answers less.'),
  },
  output_missing: {
    status: 422,
    type: 'invalid_request_error',
    message: (f: { fields: string[] }) => `The execution ended without the required output ${f.fields.join(', ')}.`,
    resolution: text('Wire the output on every branch of the flow, or make it optional in the contract.'),
  },
  execution_timeout: {
    status: 504,
    type: 'api_error',
    message: (f: { started: boolean }) =>
      f.started ? 'The execution took longer than five minutes.' : 'No worker took up the execution in time.',
    resolution: (f: { started: boolean }) =>
      f.started
        ? 'Make the flow shorter, or ask its models for less.'
        : 'Wait for some minutes, until there are workers again.',
  },

  execution_not_ended: {
    status: 409,
    type: 'conflict_error',
    message: (f: { execution: string }) => `The execution ${f.execution} has not ended.`,
    resolution: text('Wait until it has ended, or stop it, and send the request again.'),
  },
  execution_cancelled: {
    status: 409,
    type: 'conflict_error',
    message: (f: { by: 'user' | 'key' }) =>
      f.by === 'key' ? 'The execution was stopped with a key of its project.' : 'The execution was stopped by a user.',
    resolution: text('Run the sandbox product again.'),
  },

  no_worker: {
    status: 503,
    type: 'api_error',
    message: text('No worker took up the execution in the time that a chat call waits for one. Nothing is charged.'),
    resolution: text(
      'Repeat the request after some seconds, with a new Idempotency-Key if it had one; or call POST /v1/sandbox/{id}/invoke, which waits longer.',
    ),
    retryAfterMs: 5_000,
  },
  activation_failed: {
    status: 503,
    type: 'api_error',
    message: text('The revision could not be deployed; the one that was active still is.'),
    resolution: text('Activate it again after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
  overloaded: {
    status: 503,
    type: 'api_error',
    message: text('The service has more requests than it can take. Nothing was reserved.'),
    resolution: text('Repeat the request after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
  unavailable: {
    status: 503,
    type: 'api_error',
    message: text('A part of the service can not be reached. Nothing is charged.'),
    resolution: text('Repeat the request after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
} as const satisfies RefusalTable
