import type { IncomingMessage, ServerResponse } from 'node:http'
import { PARSE_ERROR } from '@modelcontextprotocol/server'
import { flowLimits } from '@gateway/contracts/limits'
import { Refusal } from '@gateway/contracts/refusal'
import { parseJson, readBody } from '@gateway/http/read-body'
import { sendJson } from '@gateway/http/send'

/** What was sent as a message, or why it is no JSON, which JSON-RPC has an error of its own for. */
export type Message = { value: unknown } | { unreadable: string }

/**
 * Reads a message. Whether it is one is for the SDK to say.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readMessage(req: IncomingMessage): Promise<Message> {
  const body = await readBody(req, flowLimits.bodyBytes)
  try {
    return { value: parseJson(body) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { unreadable: error.body.message }
  }
}

export function sendUnreadable(res: ServerResponse, why: string): void {
  const error = { code: PARSE_ERROR, message: why }
  sendJson(res, 400, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
}

/** Whether it is a call of a tool, or a batch with one. */
export function callsTool(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isCall) : isCall(value)
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { method?: unknown }).method === 'tools/call'
}
