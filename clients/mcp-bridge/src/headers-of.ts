import type { Message } from './messages.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/**
 * Returns the headers of a message. In the stateless revision each message states its revision in `_meta`, and some of
 * it is repeated in headers; in earlier ones a client states the revision once, and it goes with each further message.
 * @param agreedVersion the version negotiated by `initialize`
 */
export function headersOf(message: Message, key: string, agreedVersion: string | null): Record<string, string> {
  const { method, params } = message
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${key}`,
  }
  const ownVersion = params?._meta?.[VERSION]
  if (typeof ownVersion === 'string') {
    headers['mcp-protocol-version'] = ownVersion
    if (method !== undefined) headers['mcp-method'] = headerText(method)
    if (method === 'tools/call' && typeof params?.name === 'string') headers['mcp-name'] = headerText(params.name)
  } else if (agreedVersion !== null && method !== 'initialize') headers['mcp-protocol-version'] = agreedVersion
  return headers
}

/** Encodes text as base64 if a header can't contain it, or if it looks like such an encoding. */
function headerText(text: string): string {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
