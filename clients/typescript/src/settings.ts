import type { ClientOptions } from '@gateway/api-client/open-api-client'

export interface Settings {
  /** Address of the service, such as `https://gateway.example`; defaults to the variable GATEWAY_URL. */
  baseURL?: string | undefined
  /** Defaults to the global one. */
  fetch?: typeof globalThis.fetch | undefined
}

/** A kind of credential: the names of its option and its variable, and where to get one. */
export interface Credential {
  option: string
  variable: string
  source: string
}

/**
 * Returns the options of the API client.
 * @throws TypeError that names the missing setting
 */
export function clientOptions(
  { baseURL = variable('GATEWAY_URL'), fetch }: Settings,
  given: string | undefined,
  credential: Credential,
): ClientOptions {
  const secret = given ?? variable(credential.variable)
  if (!baseURL) throw new TypeError('Set GATEWAY_URL, or pass baseURL: the URL of the gateway.')
  if (!/^https?:\/\//.test(baseURL)) throw new TypeError(`baseURL must start with https://, not ${baseURL}.`)
  if (!URL.canParse(baseURL) || /^[^/]+\/\/[^/]*@|[?#]/.test(baseURL))
    throw new TypeError('baseURL must be an address like https://gateway.example, without ?, # or credentials.')
  if (!secret) throw new TypeError(`Set ${credential.variable}, or pass ${credential.option}: ${credential.source}.`)
  if (!/^[\x21-\x7e]+$/.test(secret)) throw new TypeError(`${credential.option} contains invalid characters.`)
  // OpenAI clients take the address with /v1.
  const baseUrl = baseURL.replace(/\/+$/, '').replace(/\/v1$/, '')
  return { baseUrl, headers: { authorization: `Bearer ${secret}` }, ...(fetch && { fetch }) }
}

/** A variable of the environment, if there is one. */
function variable(name: string): string | undefined {
  const host = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process
  return host?.env?.[name]
}
