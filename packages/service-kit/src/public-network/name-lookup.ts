import { type LookupAddress, promises as dns, TIMEOUT } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { openSemaphore } from '../async/semaphore.ts'
import { TimedOut, withTimeout } from '../async/waiting.ts'

// Look-ups of names on the public internet, which others choose. `dns.lookup` would give each a thread of libuv for as
// long as its name server is silent: a few such names would stop all look-ups of the process, those of Postgres and
// Redis included.
//   N1  A look-up uses no thread, and ends within its time limit, including its wait for a turn.
//   N2  At most `maxConcurrent` names are looked up at the same time; a name that is being looked up is not asked again.
//   N3  Names come from DNS alone. The hosts file knows no name on the public internet.

interface Options {
  /** Time limit of a look-up. Milliseconds. */
  limitMs?: number
  maxConcurrent?: number
  /** Addresses of name servers, with ports. Default: those of the machine. */
  servers?: readonly string[]
}

type Family = 4 | 6

const LIMIT_MS = 5_000
/** A name server is asked again after this time. */
const TRY_MS = 1_000
const TRIES = 2
const MAX_CONCURRENT = 64
const MAX_WAITING = 1_024
/** Names of this machine, which no name server is asked for (RFC 6761). */
const THIS_MACHINE = /^(?:.+\.)?localhost\.?$/i
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Opens a lookup for `net.connect`. Its errors have the codes of `dns`. */
export function openNameLookup({
  limitMs = LIMIT_MS,
  maxConcurrent = MAX_CONCURRENT,
  servers,
}: Options = {}): LookupFunction {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  const turns = openSemaphore({ permits: maxConcurrent, maxWaiting: MAX_WAITING, whenFull: timedOut })

  async function addressesOf(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    const resolver = new dns.Resolver({ timeout: TRY_MS, tries: TRIES })
    if (servers) resolver.setServers(servers)
    const late = setTimeout(() => resolver.cancel(), limitMs) // what has been found by then is used
    const answers = await Promise.allSettled(
      families.map(async (family) => {
        const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
        return found.map((address) => ({ address, family }))
      }),
    )
    clearTimeout(late)
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const [failure] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
    if (found.length === 0 && failure) throw failure
    return found
  }

  function find(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    const key = `${families.join()} ${name}`
    const found = underWay.get(key) ?? turns.run(() => addressesOf(name, families)).finally(() => underWay.delete(key)) // N2
    underWay.set(key, found)
    return withTimeout(limitMs, () => found) // N1
  }

  return (name, { all, family }, answer) => {
    function give(found: LookupAddress[]): void {
      if (all) answer(null, found)
      else answer(null, found[0]?.address ?? '', found[0]?.family)
    }
    const known = literalOf(name)
    if (known) return process.nextTick(give, known)
    find(name, familiesOf(family)).then(give, (error: unknown) =>
      answer(error instanceof TimedOut ? timedOut() : (error as Error), []),
    )
  }
}

function literalOf(name: string): LookupAddress[] | null {
  if (isIP(name) !== 0) return [{ address: name, family: isIP(name) }]
  return THIS_MACHINE.test(name) ? LOOPBACK : null
}

function familiesOf(family: number | 'IPv4' | 'IPv6' | undefined): Family[] {
  if (family === 4 || family === 'IPv4') return [4]
  if (family === 6 || family === 'IPv6') return [6]
  return [4, 6]
}

function timedOut(): Error {
  return Object.assign(new Error('the name was not resolved in time'), { code: TIMEOUT })
}
