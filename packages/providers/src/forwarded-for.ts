import { IGNORED_IF_UNSUPPORTED, type ChatRequest } from '@gateway/contracts/chat-request'

/**
 * The text that goes to the provider: what the caller sent, measured and written once. It is written again only to leave out
 * temperature, top_p or seed where the model does not take them (rules §3.3).
 */
export function forwardedFor({ forwarded, forwardedJson }: ChatRequest, supportedParameters: string[]): string {
  const unwanted = IGNORED_IF_UNSUPPORTED.filter(
    (field) => forwarded[field] !== undefined && !supportedParameters.includes(field),
  )
  if (unwanted.length === 0) return forwardedJson
  return JSON.stringify({ ...forwarded, ...Object.fromEntries(unwanted.map((field) => [field, undefined])) })
}
