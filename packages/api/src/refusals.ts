import { usd } from '@gateway/pricing/usd'
import type { QuotaFacts } from './quotas.ts'

// Every refusal of the service: one row per code, with its message and its resolution (rules §2.1, §2.4).
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

const typeOfStatus: Record<number, RefusalType> = {
  401: 'authentication_error',
  402: 'insufficient_funds_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
}

/** The class of an error, as the clients of model APIs know it. */
export function typeOf({ status }: Pick<RefusalRow, 'status'>): RefusalType {
  return typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

export interface RefusalRow {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- each row has its own facts; `FactsOf` gives them back typed
  message: (facts: any) => string
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  resolution: (facts: any) => string
  /** Default wait before a retry, in milliseconds, sent as Retry-After. Set where waiting helps. */
  retryAfterMs?: number
}
type RefusalTable = Record<string, RefusalRow>

interface Nothing {
  readonly nothing?: never
}
interface Reason {
  /** One sentence: what is wrong. */
  reason: string
  /** One sentence: what to send instead. */
  resolution: string
}
interface KeyLimitFacts {
  reset: 'daily' | 'weekly' | 'monthly' | 'lifetime'
  limitMicro: number
  spentMicro: number
  reservedMicro: number
  neededMicro: number
  /** End of the window; null for a lifetime limit. */
  resetsAt: string | null
}
interface BudgetFacts {
  kind: 'user' | 'team' | 'tag'
  /** The ID of the user or team, or the tag. */
  subject: string
  limitMicro: number
  spentMicro: number
  reservedMicro: number
  neededMicro: number
  /** Start of the next month. */
  resetsAt: string
}
interface CeilingFacts {
  maxMicro: number
  chargedMicro: number
  reservedMicro: number
  neededMicro: number
}

interface LimitFacts {
  limitMicro: number
  spentMicro: number
  neededMicro: number
}

/** Why a call does not fit a limit towards which reservations count too (money §6.1). */
function shortfallOf({ limitMicro, spentMicro, neededMicro }: LimitFacts) {
  if (neededMicro > limitMicro) return 'larger than the limit'
  if (spentMicro + neededMicro <= limitMicro) return 'reserved'
  return limitMicro > spentMicro ? 'larger than the rest' : 'spent'
}

/** @returns null if the limit is spent */
function limitMessage(facts: LimitFacts, limit: string): string | null {
  switch (shortfallOf(facts)) {
    case 'larger than the limit':
      return `This call may cost up to ${usd(facts.neededMicro)}, which exceeds ${limit}.`
    case 'larger than the rest':
      return `This call may cost up to ${usd(facts.neededMicro)}, which is more than is left of ${limit}.`
    case 'reserved':
      return `Running calls have reserved what this call needs of ${limit}.`
    case 'spent':
      return null
  }
}

/** @param reset how to wait for the reset; null: there is none */
function limitResolution(facts: LimitFacts, reset: string | null, raise: string): string {
  const wait = reset ? [reset] : []
  const actions = {
    'larger than the limit': ['shorten the prompt', 'lower max_tokens'],
    'larger than the rest': ['shorten the prompt', 'lower max_tokens', ...wait],
    reserved: ['wait until running calls settle'],
    spent: wait,
  }[shortfallOf(facts)]
  return `${capitalized(actions.join(', '))}, or ${raise}.`
}

const capitalized = (sentence: string) => sentence.charAt(0).toUpperCase() + sentence.slice(1)
const text = (sentence: string) => (_: Nothing) => sentence
const someOf = (names: string[]) => (names.length > 5 ? [...names.slice(0, 5), '…'] : names).join(', ')

export const refusals = {
  // 400: malformed or out of bounds, regardless of state
  invalid_json: {
    status: 400,
    message: (f: { reason: string }) => `The request body is not valid JSON: ${f.reason}.`,
    resolution: text('Send one UTF-8 JSON object with Content-Type: application/json.'),
  },
  duplicate_header: {
    status: 400,
    message: (f: { header: string }) => `The ${f.header} header was sent more than once.`,
    resolution: (f: { header: string }) => `Send ${f.header} exactly once.`,
  },
  invalid_request: {
    status: 400,
    message: (f: Reason) => f.reason,
    resolution: (f: Reason) => f.resolution,
  },
  idempotency_key_required: {
    status: 400,
    message: text('An Idempotency-Key header is required.'),
    resolution: text(
      'Send Idempotency-Key with 8 to 128 visible ASCII characters. Use a new key for each execution and the same key for its retries.',
    ),
  },
  idempotency_key_invalid: {
    status: 400,
    message: text('The Idempotency-Key header is not 8 to 128 visible ASCII characters.'),
    resolution: text('Send Idempotency-Key with 8 to 128 visible ASCII characters, for example a UUID.'),
  },

  // 401: who is calling?
  key_missing: {
    status: 401,
    message: text('No API key provided.'),
    resolution: text('Send Authorization: Bearer <API_KEY> with a key that starts with svc_.'),
  },
  key_invalid: {
    status: 401,
    message: text('Invalid API key.'),
    resolution: text(
      'Check that you copied the whole key. If the secret is lost, revoke the key and create a new one in the console.',
    ),
  },
  key_revoked: {
    status: 401,
    message: (f: { rotatedTo: string | null }) =>
      f.rotatedTo ? 'This API key was rotated and no longer works.' : 'This API key was revoked.',
    resolution: (f: { rotatedTo: string | null }) =>
      f.rotatedTo ? `Use the secret of its replacement, key ${f.rotatedTo}.` : 'Create a new key in the console.',
  },
  key_expired: {
    status: 401,
    message: (f: { expiredAt: string }) => `This API key expired at ${f.expiredAt}.`,
    resolution: text('Create a new key in the console.'),
  },
  session_missing: {
    status: 401,
    message: text('Authentication required.'),
    resolution: text(
      'Sign in at POST /api/v2/session, or send Authorization: Bearer <TOKEN> with a personal token that starts with svu_.',
    ),
  },
  token_invalid: {
    status: 401,
    message: text('This token is invalid or has expired.'),
    resolution: text(
      'Check that you copied the whole token, or sign in at POST /api/v2/session and create a new one. An Admin or Project Owner can replace a service token.',
    ),
  },
  sign_in_failed: {
    status: 401,
    message: text('Incorrect email or password.'),
    resolution: text('Check both, or reset your password at /console/reset.'),
  },
  second_factor_failed: {
    status: 401,
    message: text('This code is incorrect or was used before, or the sign-in has expired.'),
    resolution: text(
      'Enter the newest code of your authenticator app or an unused recovery code. If the sign-in is older than ten minutes, start it again.',
    ),
  },

  // 402
  insufficient_budget: {
    status: 402,
    message: (f: { neededMicro: number; availableMicro: number; reservedMicro: number }) => {
      if (f.availableMicro > 0)
        return `This call may cost up to ${usd(f.neededMicro)}, but the project's wallet has only ${usd(f.availableMicro)} available.`
      return f.reservedMicro > 0
        ? "Running calls have reserved the rest of the project's wallet."
        : "The project's wallet is empty."
    },
    resolution: (f: { affordableMaxTokens: number; reservedMicro: number }) =>
      [
        'Ask the platform operator to add funds to the project',
        ...(f.reservedMicro > 0 ? ['wait until running calls settle'] : []),
        ...(f.affordableMaxTokens > 0 ? [`set max_tokens to ${f.affordableMaxTokens} or less`] : []),
      ].join(', or ') + '.',
  },
  ceiling_reached: {
    status: 402,
    message: (f: CeilingFacts) =>
      `This call may cost up to ${usd(f.neededMicro)}, but the execution may cost at most ${usd(f.maxMicro)}, of which ${usd(f.chargedMicro)} is charged and ${usd(f.reservedMicro)} is reserved.`,
    resolution: (f: CeilingFacts) =>
      `Run it again with maxMicro ${f.chargedMicro + f.reservedMicro + f.neededMicro} or higher, or without maxMicro.`,
  },

  // 403: authenticated, but not allowed
  key_paused: {
    status: 403,
    message: text('This API key is paused.'),
    resolution: text(
      'Resume it in the console. Its creator, a Project Owner or an Admin can, if they may issue keys for the project.',
    ),
  },
  key_issuer_denied: {
    status: 403,
    message: (f: { use: boolean }) =>
      f.use
        ? 'The user who created this key no longer has the permissions that a key requires.'
        : 'You lack a permission that issuing a key for this project requires.',
    resolution: text(
      'The creator needs an organization membership, a role in the team that owns the project (Team Owner or Team Member), and a project role (Project Owner or Project Consumer). An Admin can restore the first two and a Project Owner the third; any user who has all three can issue a new key.',
    ),
  },
  rotation_forbidden: {
    status: 403,
    message: text('The project does not allow keys to rotate themselves.'),
    resolution: text(
      'Ask a user who may manage this key to rotate it in the console, or ask a Project Owner to let keys of the project rotate themselves.',
    ),
  },
  key_unbound: {
    status: 403,
    message: text('This key predates project-bound keys and no longer works.'),
    resolution: text('Create a new key for a project in the console, where this one is shown as Needs reissue.'),
  },
  project_mismatch: {
    status: 403,
    message: (f: { project: string }) =>
      `The request names a different project than the one this key is bound to, ${f.project}.`,
    resolution: text('Remove X-Service-Project, X-Project-ID and project_id, or use a key of the project they name.'),
  },
  key_scope: {
    status: 403,
    message: (f: { resource: string }) => `This key is not allowed to call ${f.resource}.`,
    resolution: text('Call a resource on the allowlist of the key, or create a key that allows this one.'),
  },
  key_limit: {
    status: 403,
    message: (f: KeyLimitFacts) => {
      const limit = `${f.reset} spending limit of ${usd(f.limitMicro)}`
      return limitMessage(f, `the key's ${limit}`) ?? `This key has reached its ${limit}.`
    },
    resolution: (f: KeyLimitFacts) => {
      const reset = f.resetsAt && `wait until the limit resets at ${f.resetsAt}`
      if (shortfallOf(f) === 'spent' && !reset)
        return 'Create a key with a higher limit. A lifetime limit does not reset.'
      return limitResolution(f, reset, 'create a key with a higher limit')
    },
  },
  tag_mismatch: {
    status: 403,
    message: (f: { tag: string }) => `The calls of this key have the tag ${f.tag}, and the request names another one.`,
    resolution: text('Remove X-Service-Tag, or use a key without a tag.'),
  },
  budget_reached: {
    status: 403,
    message: (f: BudgetFacts) => {
      const budget = `the monthly budget of the ${f.kind} ${f.subject}, ${usd(f.limitMicro)}`
      return limitMessage(f, budget) ?? `${capitalized(budget)}, is reached.`
    },
    resolution: (f: BudgetFacts) =>
      limitResolution(
        f,
        `wait until the budget resets at ${f.resetsAt}`,
        'ask an Admin of the organization to raise the budget',
      ),
  },
  product_not_assigned: {
    status: 403,
    message: (f: { product: string }) => `The product ${f.product} is not assigned to this project or not published.`,
    resolution: text(
      'Ask an Admin of the organization to assign the product, or use another product if this one is not published.',
    ),
  },
  quota_reached: {
    status: 403,
    message: (f: QuotaFacts) => `The project has ${f.used} ${f.noun}, and its quota is ${f.limit}.`,
    resolution: (f: QuotaFacts) => `${f.cure}, or ask the platform operator to raise the quota of the project.`,
  },
  not_permitted: {
    status: 403,
    message: (f: { need: string }) => `This requires ${f.need}.`,
    resolution: (f: { need: string }) => `Ask a user with ${f.need} to do this or to grant it to you.`,
  },
  scope_missing: {
    status: 403,
    message: (f: { scopes: string }) => `This token lacks the scope ${f.scopes}.`,
    resolution: (f: { scopes: string }) =>
      `Create a personal token with ${f.scopes} on your account page, or sign in and do this in the console.`,
  },
  session_required: {
    status: 403,
    message: text('A token cannot do this.'),
    resolution: text('Sign in at POST /api/v2/session or in the console, and send the session cookie instead.'),
  },
  second_factor_required: {
    status: 403,
    message: text('This organization requires a second factor, and you signed in without one.'),
    resolution: text(
      'Set up an authenticator app on your account page, or sign in with its code. A personal token works if it was created in such a session.',
    ),
  },

  mcp_disabled: {
    status: 403,
    message: text('MCP access is disabled for this sandbox product.'),
    resolution: text('Ask a Project Owner or Consumer to enable MCP access, or call POST /v1/sandbox/{id}/invoke.'),
  },

  // 404: does not exist for this caller
  model_not_found: {
    status: 404,
    message: (f: { model: string }) => `The model ${f.model} does not exist or is not available to this project.`,
    resolution: text(
      'Use an ID from GET /v1/models (for embeddings: GET /v1/embeddings/models), or ask an Admin to assign the product to the project.',
    ),
  },
  sandbox_not_found: {
    status: 404,
    message: (f: { sandbox: string }) => `This project has no sandbox product ${f.sandbox}.`,
    resolution: text('Check the ID. A sandbox product is available only to its own project.'),
  },
  execution_not_found: {
    status: 404,
    message: (f: { execution: string }) => `This project has no execution ${f.execution}.`,
    resolution: text('Check the ID. An execution is available only to its own project.'),
  },
  asset_not_found: {
    status: 404,
    message: (f: { asset: string }) => `This project has no asset ${f.asset}.`,
    resolution: text('Check the ID, or upload the file with POST /v1/assets.'),
  },
  invocation_not_found: {
    status: 404,
    message: (f: { invocation: string }) => `This key has not made an invocation ${f.invocation}.`,
    resolution: text(
      'Check the ID: it is the X-Service-Invocation header of a response to this key or another key of its lineage. Read an execution with GET /v1/executions/{id}.',
    ),
  },
  invocation_archived: {
    status: 404,
    message: (f: { month: string }) => `Invocation records of ${f.month} have been archived.`,
    resolution: (f: { month: string }) =>
      `Ask the platform operator to look it up in the archive of ${f.month}. Usage reports still include its charge.`,
  },
  statement_archived: {
    status: 404,
    message: (f: { day: string }) =>
      `Entries up to ${f.day} were archived without daily totals, so a statement cannot start before that day ends.`,
    resolution: (f: { first: string }) =>
      `Start the statement on ${f.first} or later, or ask the platform operator for the archive.`,
  },
  usage_archived: {
    status: 404,
    message: (f: { zone: string }) =>
      `Days in ${f.zone} do not start on a whole UTC hour, and calls in this period, or their flows or users, are no longer known.`,
    resolution: text('Choose a later period, or a time zone whose offset is whole hours, for example UTC.'),
  },
  not_found: {
    status: 404,
    message: text('Not found.'),
    resolution: text(
      'Check the path and its IDs. Call chat models with POST /v1/chat/completions; list them with GET /v1/models.',
    ),
  },
  method_not_allowed: {
    status: 405,
    message: (f: { method: string }) => `${f.method} is not allowed here.`,
    resolution: (f: { allow: string }) => `Use ${f.allow}.`,
  },

  // 409
  key_not_active: {
    status: 409,
    message: (f: { state: string }) =>
      f.state === 'Paused'
        ? "The key is paused and can't be rotated."
        : `The key is ${f.state} and can't be rotated, paused, resumed or revoked.`,
    resolution: (f: { state: string; rotatedTo: string | null }) => {
      if (f.state === 'Paused') return 'Resume the key, then rotate it.'
      return f.rotatedTo ? `Use its replacement, key ${f.rotatedTo}, instead.` : 'Create a new key.'
    },
  },
  already_exists: {
    status: 409,
    message: (f: { what: string }) => `${f.what} already exists.`,
    resolution: text('Choose another ID or name, or edit the existing one.'),
  },
  not_empty: {
    status: 409,
    message: (f: { what: string; holds: string }) => `${f.what} still has ${f.holds}.`,
    resolution: (f: { holds: string }) => `Delete the ${f.holds} first.`,
  },
  last_admin: {
    status: 409,
    message: text('This is the only Admin of the organization.'),
    resolution: text('Make another member an Admin first.'),
  },
  last_operator: {
    status: 409,
    message: text('This is the only platform operator who may sign in.'),
    resolution: text('Make another user a platform operator first.'),
  },
  revision_conflict: {
    status: 409,
    message: (f: { latestRevision: number }) =>
      `The sandbox product has changed since; its latest revision is ${f.latestRevision}.`,
    resolution: (f: { latestRevision: number }) =>
      `Merge your changes into revision ${f.latestRevision}, then save with baseRevision ${f.latestRevision}.`,
  },
  revision_not_active: {
    status: 409,
    message: (f: { revision: number | null; activeRevision: number | null; suspended: boolean }) =>
      f.suspended
        ? 'The sandbox product is suspended.'
        : f.activeRevision === null
          ? 'The sandbox product has no active revision.'
          : `Revision ${f.revision} is not active; the active revision is ${f.activeRevision}.`,
    resolution: (f: { activeRevision: number | null; suspended: boolean }) =>
      f.suspended
        ? 'Ask a Project Owner to resume it.'
        : f.activeRevision === null
          ? 'Activate a revision in the console.'
          : 'Omit revision, or activate the revision you want in the console.',
  },
  idempotency_in_progress: {
    status: 409,
    message: text('The first call with this idempotency key is still running.'),
    resolution: text(
      'Retry the same request after Retry-After seconds. It returns the result once the first call has finished.',
    ),
    retryAfterMs: 2_000,
  },

  // 413
  request_too_large: {
    status: 413,
    message: (f: { limitBytes: number }) => `The request body is larger than ${f.limitBytes} bytes.`,
    resolution: (f: { limitBytes: number }) => `Send at most ${f.limitBytes} bytes.`,
  },

  // 416
  range_not_satisfiable: {
    status: 416,
    message: (f: { bytes: number }) => `The Range header is beyond the end of the file, which has ${f.bytes} bytes.`,
    resolution: (f: { bytes: number }) => `Request a range within bytes 0 to ${f.bytes - 1}, or omit Range.`,
  },

  // 422: well-formed, but can't be processed
  project_required: {
    status: 422,
    message: text('A key requires a project.'),
    resolution: text('Send the ID of the project to bind the key to as `project`.'),
  },
  resource_not_eligible: {
    status: 422,
    message: (f: { resources: string[] }) => `The project cannot use these resources: ${f.resources.join(', ')}.`,
    resolution: text('List only products assigned to the project and its own sandbox products.'),
  },
  context_limit: {
    status: 422,
    message: (f: { contextLength: number; maxOutputTokens: number; promptTokens: number; outputCap: number }) =>
      `This model's maximum context length is ${f.contextLength} tokens and its maximum output ${f.maxOutputTokens} tokens, but the request needs up to ${f.promptTokens} input and ${f.outputCap} output tokens.`,
    /** `anyOutput`: the prompt is too long for any output cap. */
    resolution: (f: { anyOutput?: boolean }) =>
      f.anyOutput ? 'Shorten the messages.' : 'Shorten the messages or lower max_tokens.',
  },
  sandbox_contract: {
    status: 422,
    message: (f: { sandbox: string }) =>
      `The sandbox product ${f.sandbox} can't be called as a chat model: its contract is not one text in and one text out.`,
    resolution: (f: { sandbox: string }) => `Call POST /v1/sandbox/${f.sandbox}/invoke with an input object.`,
  },
  input_type: {
    status: 422,
    message: (f: { fields: { field: string; message: string }[] }) =>
      `The input does not match the contract: ${f.fields.map(({ field, message }) => `${field} ${message}`).join('; ')}.`,
    resolution: text('Send an input object that matches the input schema of the sandbox product. Nothing was charged.'),
  },
  graph_invalid: {
    status: 422,
    message: (f: { problems: { message: string }[] }) =>
      f.problems.length === 1
        ? `The graph has a problem: ${f.problems[0]?.message}`
        : `The graph has ${f.problems.length} problems.`,
    resolution: text(
      'Fix the problems listed in details.problems, save the graph as a new revision, and use that revision.',
    ),
  },
  rerun_differs: {
    status: 422,
    message: (f: { execution: string; revision: number; nodes: string[] }) =>
      `Results of execution ${f.execution} can't be reused: these nodes differ in revision ${f.revision}: ${someOf(f.nodes)}.`,
    resolution: text('Rerun from a node at or before all of them, omit revision, or run the revision from the start.'),
  },
  idempotency_mismatch: {
    status: 422,
    message: text('This idempotency key was already used with a different request.'),
    resolution: text('Send the original request again, or use a new Idempotency-Key.'),
  },

  answer_not_kept: {
    status: 422,
    message: text('The call with this idempotency key has finished, but its response is not stored.'),
    resolution: text('Use a new Idempotency-Key to make a new call. It is charged separately.'),
  },

  // 429 and above
  rate_limited: {
    status: 429,
    message: text('Too many requests.'),
    resolution: text('Wait at least Retry-After seconds, and send requests less often.'),
    retryAfterMs: 1_000,
  },
  internal_error: {
    status: 500,
    message: text('Internal error. Nothing is charged.'),
    resolution: text('Retry the request. If it keeps failing, send support the X-Request-Id of this response.'),
  },
  provider_failed: {
    status: 502,
    message: text('The model failed to respond. Nothing is charged.'),
    resolution: text('Retry the request, or use another model from GET /v1/models.'),
  },
  provider_timeout: {
    status: 504,
    message: text('The model did not respond in time. Nothing is charged.'),
    resolution: text('Retry the request, lower max_tokens, or use another model from GET /v1/models.'),
  },
  // Inside flows: the error of a node or an execution, returned with status 200. execution.ts adds the charge and that
  // a new idempotency key runs it again.
  node_failed: {
    status: 500,
    message: (f: { node: string }) => `Node ${f.node} failed.`,
    resolution: text('Run the sandbox product again. If it keeps failing, send support the execution ID.'),
  },
  expression_failed: {
    status: 422,
    message: (f: { node: string; reason: string }) => `The expression of node ${f.node} failed: ${f.reason}.`,
    resolution: text('Change the input, or change the expression to handle it.'),
  },
  value_too_large: {
    status: 422,
    message: (f: { node: string; port: string; limitBytes: number }) =>
      `The value at port ${f.port} of node ${f.node} is larger than ${f.limitBytes} bytes.`,
    resolution: text('Send a smaller input, or have the models of the flow produce shorter output.'),
  },
  output_too_large: {
    status: 422,
    message: (f: { limitBytes: number }) => `The output of the execution is larger than ${f.limitBytes} bytes.`,
    resolution: text('Send a smaller input, or change the flow to produce less output.'),
  },
  output_missing: {
    status: 422,
    message: (f: { fields: string[] }) => `The execution ended without the required output ${f.fields.join(', ')}.`,
    resolution: text('Connect the output on every branch of the flow, or make it optional in the contract.'),
  },
  execution_timeout: {
    status: 504,
    message: (f: { started: boolean }) =>
      f.started ? 'The execution took longer than five minutes.' : 'No worker started the execution in time.',
    resolution: (f: { started: boolean }) =>
      f.started
        ? 'Shorten the flow, or reduce the output of its models.'
        : 'Retry in a few minutes, when workers are available again.',
  },

  execution_not_ended: {
    status: 409,
    message: (f: { execution: string }) => `Execution ${f.execution} has not ended.`,
    resolution: text('Wait until it has ended or stop it, then try again.'),
  },
  execution_cancelled: {
    status: 409,
    message: (f: { by: 'user' | 'key' }) =>
      f.by === 'key' ? 'The execution was stopped with a key of its project.' : 'The execution was stopped by a user.',
    resolution: text('Run the sandbox product again.'),
  },

  no_worker: {
    status: 503,
    message: text('No worker was available in the time that a chat call waits. Nothing is charged.'),
    resolution: text(
      'Retry in a few seconds, with a new Idempotency-Key if you sent one, or call POST /v1/sandbox/{id}/invoke, which waits longer.',
    ),
    retryAfterMs: 5_000,
  },
  activation_failed: {
    status: 503,
    message: text('The revision could not be deployed. The previous revision is still active.'),
    resolution: text('Activate it again after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
  overloaded: {
    status: 503,
    message: text('The service is overloaded. Nothing is charged.'),
    resolution: text('Retry the request after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
  unavailable: {
    status: 503,
    message: text('The service is temporarily unavailable. Nothing is charged.'),
    resolution: text('Retry the request after Retry-After seconds.'),
    retryAfterMs: 1_000,
  },
} as const satisfies RefusalTable
