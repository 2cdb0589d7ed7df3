import type { Meter } from '@opentelemetry/api'
import type { QueueDepth } from '@gateway/node-queue/queue-depth'

/** Tells how much waits in the queue. Every worker tells the same, so whoever adds them up takes the greatest. */
export function watchQueue(meter: Meter, depth: Pick<QueueDepth, 'read'>): void {
  const waiting = meter.createObservableGauge('worker.queue.waiting', {
    description: 'Jobs that wait for a worker',
    unit: '{job}',
  })
  const oldest = meter.createObservableGauge('worker.queue.oldest', {
    description: 'How long the oldest of them has waited',
    unit: 's',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const found = await depth.read()
      if (found === null) return
      result.observe(waiting, found.waiting)
      result.observe(oldest, found.oldestMs / 1_000)
    },
    [waiting, oldest],
  )
}
