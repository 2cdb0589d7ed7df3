/** The caller left before anything was done for him. There is nobody to answer. */
export class CallerGone extends Error {
  constructor() {
    super('the caller has gone')
  }
}
