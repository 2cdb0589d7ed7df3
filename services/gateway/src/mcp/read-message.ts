import type { IncomingMessage } from 'node:http'
import { flowLimits } from '@gateway/contracts/limits'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'

/** What was sent. Whether it is a message of JSON-RPC is for the SDK to say. */
export interface Message {
  value: unknown
}

/**
 * Reads a message. What is no JSON is refused in the shape of every path (rules §2.4), not in that of JSON-RPC.
 * @throws Refusal `invalid_json`, `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readMessage(req: IncomingMessage): Promise<Message> {
  return { value: parseJson(await readBody(req, flowLimits.bodyBytes)) }
}

/** Whether it is a call of a tool, or a batch with one. */
export function callsTool(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isCall) : isCall(value)
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { method?: unknown }).method === 'tools/call'
}
