/**
 * Why work on a node was ended before it was done.
 * `overdue`: the run's time is over. `run-ending`: the run fails, or the lease is another's. `stopping`: this worker stops.
 */
export class WorkEnded extends Error {
  readonly why: 'overdue' | 'run-ending' | 'stopping'

  constructor(why: WorkEnded['why']) {
    super(`the work was ended: ${why}`)
    this.why = why
  }
}
