import type { Message } from './messages.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/**
 * The headers of a message. In the stateless revision each message says in `_meta` which revision it is of, and some of it has to be
 * repeated in headers; before that, a client says the revision once, and it goes with each message that follows.
 * @param agreedVersion what `initialize` agreed on
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

/** What a header can't hold unchanged, or what would be taken for such, is written as base64. */
function headerText(text: string): string {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
