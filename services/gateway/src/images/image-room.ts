import type { IncomingMessage } from 'node:http'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { chatLimits } from '@gateway/contracts/limits'
import { ClientDisconnected } from '@gateway/http/client-disconnected'
import { refuseUnread } from '@gateway/http/read-body'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import { readCaller } from '../request/read-headers.ts'

// The memory that a chat call takes for images: a part of what all of them share (packages/async/src/byte-budget.ts).
//   R1  A body beyond what a text may be is read only once there is room for it; until then it stays with its sender.
//   R2  Room is a project's. Whoever sends such a body shows a key that is good before a byte of it is read, so that keys nobody has
//       can't take the room of others.
//   R3  All of it is given back when the call has been answered.

export interface ImageRoom {
  /**
   * Waits for room for so many bytes more.
   * @throws Refusal `overloaded`; ClientDisconnected
   */
  take(project: string, bytes: number): Promise<void>
  /** R3 */
  giveBack(): void
}

export function openImageRoom(
  { imageMemory }: Pick<Deps, 'imageMemory'>,
  { disconnected }: Pick<Caller, 'disconnected'>,
): ImageRoom {
  const shares: (() => void)[] = []
  return {
    async take(project, bytes) {
      try {
        shares.push(await imageMemory.take(project, bytes, disconnected))
      } catch (error) {
        throw disconnected.aborted ? new ClientDisconnected() : error
      }
    },
    giveBack() {
      for (const share of shares.splice(0)) share()
    },
  }
}

/**
 * Makes room for the body of a chat request, where it says that it is larger than a text may be.
 * @throws Refusal `request_too_large`, `overloaded`, or as the admission of a call would; ClientDisconnected
 */
export async function makeRoomForBody(
  { ledger }: Pick<Deps, 'ledger'>,
  req: IncomingMessage,
  { permit }: Pick<Caller, 'permit'>,
  room: ImageRoom,
): Promise<void> {
  const bytes = Number(req.headers['content-length'] ?? 0)
  if (!(bytes > chatLimits.textBodyBytes)) return
  const caller = readCaller(req)
  refuseUnread(req, chatLimits.bodyBytes)
  const answer = await ledger.key(caller) // R2
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  const { project } = answer.key
  permit.attributeTo(project)
  await room.take(project, bytes) // R1
}
