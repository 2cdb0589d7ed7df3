import type { Meter } from '@opentelemetry/api'
import type { NodeWorker } from '@gateway/node-queue/node-worker'

/** What the worker counts. */
export interface Measures {
  /** A run of a job ended: well, by a failure, or because the lock of the job was lost. */
  ended(how: 'ran' | 'failed' | 'lost'): void
  watch(queue: Pick<NodeWorker, 'running'>): void
}

export function openMeasures(meter: Meter): Measures {
  const jobs = meter.createCounter('worker_jobs', { description: 'Jobs of the queue by how their run ended' })
  const running = meter.createObservableGauge('worker_jobs_running', { description: 'Jobs under way' })
  return {
    ended: (how) => jobs.add(1, { how }),
    watch: (queue) => running.addCallback((gauge) => gauge.observe(queue.running())),
  }
}
