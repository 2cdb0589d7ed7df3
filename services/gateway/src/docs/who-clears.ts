import type { RefusalCode } from '@gateway/contracts/refusal'
import { refusals, type RefusalType } from '@gateway/contracts/refusals'

// Who can clear a refusal, in one sentence: by its type, and by its code where that is somebody else.

const flowAuthor = 'Whoever draws the flow: a Project Owner or Project Consumer.'
const admin = 'An Admin of the organization, or a Project Owner.'
const keyIssuer = 'Whoever may issue keys of the project, in the console.'
const time = 'Nobody has to: it passes by itself.'
const platformOperator = 'The platform operator. Tell them the `X-Request-Id` of the answer.'

const byType: Record<RefusalType, string> = {
  invalid_request_error: 'Whoever writes the request.',
  authentication_error: 'Whoever holds the key, token or password.',
  permission_error: admin,
  not_found_error: 'Whoever writes the request.',
  conflict_error: 'Whoever sent the request, once they have read what has changed.',
  insufficient_funds_error: 'The platform operator, who funds projects; or whoever calls, by asking for less.',
  rate_limit_error: time,
  api_error: platformOperator,
}

const byCode: Partial<Record<RefusalCode, string>> = {
  key_revoked: keyIssuer,
  key_expired: keyIssuer,
  key_unbound: keyIssuer,
  key_scope: keyIssuer,
  key_limit: keyIssuer,
  ceiling_reached: 'Whoever invokes the flow, with a higher `maxMicro` or none.',
  project_mismatch: 'Whoever writes the request.',
  idempotency_in_progress: time,
  graph_invalid: flowAuthor,
  node_failed: flowAuthor,
  expression_failed: flowAuthor,
  value_too_large: flowAuthor,
  output_too_large: flowAuthor,
  output_missing: flowAuthor,
  execution_timeout: flowAuthor,
  execution_cancelled: 'Nobody: somebody stopped it. Whoever wants it begins a new one.',
  overloaded: time,
  unavailable: time,
  activation_failed: time,
}

export function whoClears(code: RefusalCode): string {
  return byCode[code] ?? byType[refusals[code].type]
}
