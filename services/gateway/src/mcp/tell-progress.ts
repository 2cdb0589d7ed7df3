import type { Notification } from '@modelcontextprotocol/server'
import type { ExecutionRecord, ProgressLine } from '@gateway/contracts/execution'
import type { ResponseStream } from '../answer/response-stream.ts'

/** A reader of a run's lines who makes notifications of them, and keeps the record that the last line is. */
export interface ProgressTeller extends ResponseStream {
  /** When all is told: the record, or null where the lines ended before the run did. */
  ended(): Promise<ExecutionRecord | null>
}

type Notify = (notification: Notification) => Promise<void>

/** @param token what the client calls this progress. Its values are those of `seq`, so they rise with each line. */
export function progressTeller(token: string | number, notify: Notify): ProgressTeller {
  let record: ExecutionRecord | null = null
  let told = Promise.resolve()

  /** Whoever has gone is not told, and the run goes on. */
  function tell(progress: number, message: string): void {
    const params = { progressToken: token, progress, message }
    told = told.then(() => notify({ method: 'notifications/progress', params })).catch(() => {})
  }

  function take(lines: string): void {
    for (const text of lines.split('\n')) {
      if (text === '') continue
      const line = JSON.parse(text) as ProgressLine
      if (line.kind === 'admitted') tell(line.seq, 'The run has begun.')
      else if (line.kind === 'node') tell(line.seq, `${line.node.id}: ${line.node.status}`)
      else record = line.execution // which the result says
    }
  }

  return {
    open() {},
    isOpen: () => true,
    write(lines) {
      take(lines)
      return told
    },
    end: take,
    async ended() {
      await told
      return record
    },
  }
}
