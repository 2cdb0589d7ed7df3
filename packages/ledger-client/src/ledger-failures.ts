/** The ledger gave no decision in time, or would not take the item. Of an admission: nothing stays reserved. */
export class LedgerUnavailable extends Error {
  readonly why: 'unavailable' | 'overloaded'

  constructor({ why }: { why: 'unavailable' | 'overloaded' }) {
    super(`the ledger is ${why}`)
    this.why = why
  }
}

/** The ledger refused what was sent as not understood or not permitted: a bug or a wrong setting, which repeating can't clear. */
export class LedgerRejected extends Error {
  /** The ledger's HTTP status. */
  readonly status: number

  constructor(path: string, status: number, text: string) {
    super(`the ledger rejected ${path} with ${status}: ${text.slice(0, 500)}`)
    this.status = status
  }
}

/** Statuses after which the same request would be refused again. 401 is not one: the next try signs a new token. */
export function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}
