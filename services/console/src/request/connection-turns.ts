import { AsyncLocalStorage } from 'node:async_hooks'
import { openFairSemaphore } from '@gateway/service-kit/async/fair-semaphore'
import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'

// Turns at the connections to the database, shared by the users of the requests.
//   D1  A user or token has at most half of the connections, so that others find one free when its queries are slow.
//   D2  Users with waiting queries take turns.
//   D3  A query that gets no connection in time fails, as it would in a pool that is exhausted.

/** Whose queries these are. A request's party changes once its credential was accepted. */
interface Querier {
  party: string
}

const queriers = new AsyncLocalStorage<Querier>()

/** Runs work whose queries take the turns of a party. */
export function queryAs<T>(querier: Querier, work: () => T): T {
  return queriers.run(querier, work)
}

const WAIT_MS = 3_000

/** Returns the `takeTurn` of a pool with this number of connections. */
export function openConnectionTurns(connections: number, waitMs = WAIT_MS): () => Promise<() => void> {
  const unlimited = { maxWaiting: Infinity, whenFull: () => new Error('never full') }
  const all = openFairSemaphore({ permits: connections, ...unlimited })
  const maxOfParty = Math.max(1, Math.floor(connections / 2)) // D1
  const ofParties = new Map<string, { turns: Semaphore; queries: number }>()

  async function inTurn(party: string, query: () => Promise<void>): Promise<void> {
    const own = ofParties.get(party) ?? { turns: openSemaphore({ permits: maxOfParty, ...unlimited }), queries: 0 }
    ofParties.set(party, own)
    own.queries++
    await own.turns.run(() => all.run(party, query)) // D2
    if (--own.queries === 0) ofParties.delete(party)
  }

  return () => {
    const turn = Promise.withResolvers<() => void>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      turn.reject(new Error('timeout exceeded when trying to connect')) // D3, as pg says it
    }, waitMs)
    void inTurn(queriers.getStore()?.party ?? '', async () => {
      clearTimeout(timer)
      if (!isLate) await new Promise<void>((giveBack) => turn.resolve(giveBack))
    })
    return turn.promise
  }
}
