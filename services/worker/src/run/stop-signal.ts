import { JobAborted } from '@gateway/node-queue/job-aborted'

/** Aborts when this worker has to stop, with the signal's reason; not when the queue's lock is lost (N4). */
export function stopSignalOf(signal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  const look = () => {
    if (signal.reason instanceof JobAborted && signal.reason.why === 'stopping') stop.abort(signal.reason)
  }
  if (signal.aborted) look()
  else signal.addEventListener('abort', look, { once: true })
  return stop.signal
}
