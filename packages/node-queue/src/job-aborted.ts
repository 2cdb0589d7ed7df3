/**
 * Why a job's signal was aborted.
 * `lost`: its lock is gone (Redis was flushed, or did not hear from this process in time), so another worker may run it too.
 * `stopping`: this worker ends; the job is handed back once its run has.
 */
export class JobAborted extends Error {
  readonly why: 'lost' | 'stopping'

  constructor(why: 'lost' | 'stopping') {
    super(`the job was aborted: ${why}`)
    this.why = why
  }
}
