import { Worker } from 'bullmq'

/** A BullMQ worker that can be left behind: its own `close` waits for its runs and for Redis, without end. */
export class AbandonableWorker<Data> extends Worker<Data, void> {
  /** Closes the connections and ends the renewal of locks, which then expire. To be called after `close`, if that hangs. */
  async abandon(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}
