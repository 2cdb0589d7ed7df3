// JSON-RPC, as far as a bridge has to know it: messages pass through unchanged.

export interface Message {
  jsonrpc: '2.0'
  id?: string | number | null
  method?: string
  params?: { name?: unknown; requestId?: unknown; progressToken?: unknown; progress?: unknown; _meta?: Meta }
  result?: { protocolVersion?: unknown; isError?: unknown; content?: unknown }
  error?: { code: number; message: string; data?: unknown }
}

type Meta = Record<string, unknown>

export interface Request extends Message {
  id: string | number
  method: string
}

export type Id = string | number | null

export function isRequest(message: Message): message is Request {
  return typeof message.method === 'string' && (typeof message.id === 'string' || typeof message.id === 'number')
}

export function isAnswerTo(message: Message, id: Id): boolean {
  return (
    message.method === undefined &&
    (message.id === id || (message.error !== undefined && (message.id ?? null) === null))
  )
}

/** For failures without a code in the protocol, which reserves -32768 to -32000. */
export const BRIDGE_FAILED = -31_000

export function failure(id: Id, code: number, message: string, data?: unknown): Message {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

/** Parses a line into messages: one, or in older revisions of the protocol several. */
export function readMessages(line: string): Message[] | null {
  try {
    const value = JSON.parse(line) as unknown
    const all: unknown[] = Array.isArray(value) ? value : [value]
    return all.every((one) => typeof one === 'object' && one !== null) ? (all as Message[]) : null
  } catch {
    return null
  }
}
