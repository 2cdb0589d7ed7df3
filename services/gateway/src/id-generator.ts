import { randomFillSync } from 'node:crypto'
import { mintId, type Id } from '@gateway/contracts/ids'

export type NewId = <P extends string>(prefix: P) => Id<P>

const BYTES_EACH = 10

/**
 * Makes ids. Random bytes are fetched for many at once: fetching ten costs as much as fetching thousands.
 * @param now Unix milliseconds
 */
export function openIdGenerator(now: () => number): NewId {
  const random = Buffer.alloc(BYTES_EACH * 400)
  let at = random.length
  return (prefix) => {
    if (at === random.length) {
      randomFillSync(random)
      at = 0
    }
    const own = random.subarray(at, at + BYTES_EACH)
    at += BYTES_EACH
    return mintId(prefix, now(), own)
  }
}
