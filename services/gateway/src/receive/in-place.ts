import type { ServerResponse } from 'node:http'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Place, ConcurrencyLimiter } from '../admit/concurrency-limiter.ts'

/**
 * Does the work of a call while there is room for its caller. Who has none is refused before anything of his body is read; who
 * is in keeps his place until the work is done and his answer is with him, or he has gone (decisions.md, 3).
 * @throws Refusal `overloaded`
 */
export async function inPlace(
  places: Pick<ConcurrencyLimiter, 'take'>,
  res: ServerResponse,
  keyHash: string,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const place = places.take(keyHash)
  let reasonsToStay = 2
  const done = () => {
    if (--reasonsToStay === 0) place.leave()
  }
  res.once('close', done)
  try {
    await work(place)
  } finally {
    done()
  }
}

/** The ledger to whoever asks what his key is and can call: he needs a place like a caller, as long as the ledger takes. */
export function askedInPlace(
  places: Pick<ConcurrencyLimiter, 'take'>,
  ledger: Pick<LedgerClient, 'models' | 'key'>,
): Pick<LedgerClient, 'models' | 'key'> {
  return {
    models: (question) => whileIn(question.keyHash, () => ledger.models(question)),
    key: (question) => whileIn(question.keyHash, () => ledger.key(question)),
  }

  async function whileIn<Answer>(keyHash: string, ask: () => Promise<Answer>): Promise<Answer> {
    const place = places.take(keyHash)
    try {
      return await ask()
    } finally {
      place.leave()
    }
  }
}
