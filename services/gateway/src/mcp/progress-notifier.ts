import type { Notification } from '@modelcontextprotocol/server'
import type { ExecutionRecord, ProgressLine } from '@gateway/contracts/execution'
import type { ResponseStream } from '../response/response-stream.ts'

/**
 * Takes the lines of an execution like a stream, makes notifications of them, and keeps the record that the last line
 * is.
 */
export interface ProgressNotifier extends ResponseStream {
  /** When all notifications are sent: the record, or null where the lines ended before the execution did. */
  ended(): Promise<ExecutionRecord | null>
}

type Notify = (notification: Notification) => Promise<void>

/** @param token what the client calls this progress. Its values are those of `seq`, so they rise with each line. */
export function openProgressNotifier(token: string | number, notify: Notify): ProgressNotifier {
  let record: ExecutionRecord | null = null
  let sent = Promise.resolve()

  /** A client that has left is not notified, and the execution goes on. */
  function send(progress: number, message: string): void {
    const params = { progressToken: token, progress, message }
    sent = sent.then(() => notify({ method: 'notifications/progress', params })).catch(() => {})
  }

  function take(lines: string): void {
    for (const text of lines.split('\n')) {
      if (text === '') continue
      const line = JSON.parse(text) as ProgressLine
      if (line.kind === 'admitted') send(line.seq, 'The execution has begun.')
      else if (line.kind === 'node') send(line.seq, `${line.node.id}: ${line.node.status}`)
      else record = line.execution // which the result says
    }
  }

  return {
    open() {},
    isOpen: () => true,
    write(lines) {
      take(lines)
      return sent
    },
    end: take,
    async ended() {
      await sent
      return record
    },
  }
}
