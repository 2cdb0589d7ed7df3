import type { ServerResponse } from 'node:http'
import { sendText } from '@gateway/service-kit/http/answers'
import { type SavedAnswer, unpackAnswer } from './response-stream.ts'

/** Sends the saved response of an earlier call with the same idempotency key, byte for byte. */
export async function sendReplay(res: ServerResponse, saved: SavedAnswer): Promise<void> {
  res.setHeader('Idempotent-Replayed', 'true')
  const { contentType, body } = await unpackAnswer(saved)
  sendText(res, 200, body, { 'Content-Type': contentType })
}
