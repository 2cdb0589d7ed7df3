import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'
import { clientOptions, type Settings } from './settings.ts'

export { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
export type { RefusalCode } from '@gateway/api/refusal'
export type { ApiClient } from '@gateway/api-client/open-api-client'
export { newIdempotencyKey } from './idempotency-key.ts'

export interface ConsoleOptions extends Settings {
  /**
   * A personal token, `svu_…`, or a token of an organization or project, `svt_…`; defaults to the variable
   * GATEWAY_TOKEN.
   */
  token?: string | undefined
}

const TOKEN = { option: 'token', variable: 'GATEWAY_TOKEN', source: 'a console token, svu_… or svt_…' }

/**
 * The API of the console, for a user or a program of an organization: each route by its method and path.
 * @throws TypeError that names the missing setting
 */
export function openConsole({ token, ...settings }: ConsoleOptions = {}): ApiClient {
  return openApiClient(clientOptions(settings, token, TOKEN))
}
