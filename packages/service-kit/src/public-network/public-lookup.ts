import { CONNREFUSED, lookup, NODATA, NOTFOUND, type LookupAddress, promises as dns, TIMEOUT } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
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

/** Error code of a lookup for a name with a private address. */
export const privateAddressCode = 'PRIVATE_ADDRESS'

/** Shared, because its limits are those of a process. */
const lookUpName = openNameLookup()

/**
 * A lookup for `net.connect` that fails if any address of a name is private. The socket connects to the very address
 * that was checked, so a name that resolves differently a moment later changes nothing.
 */
export function publicLookup(resolve: LookupFunction = lookUpName): LookupFunction {
  return (hostname, options, answer) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = typeof found === 'string' ? [{ address: found, family: 4 }] : found
      if (error) return answer(error, [])
      const first = addresses[0]
      if (!first || addresses.some(({ address }) => isPrivateAddress(address)))
        return answer(Object.assign(new Error('the name leads to a private address'), { code: privateAddressCode }), [])
      if (options.all) answer(null, addresses)
      else answer(null, first.address, first.family)
    })
  }
}

const denials: readonly string[] = [CONNREFUSED, NODATA, NOTFOUND]

/**
 * A lookup for `net.connect` that finds private addresses as well, and names that only this machine knows, such as those
 * of its hosts file: for development and tests. A thread of libuv looks for such a name once DNS has denied it, and for
 * none whose name server is silent.
 */
export const anyLookup: LookupFunction = (hostname, options, answer) => {
  lookUpName(hostname, options, (error, ...found) => {
    if (error && denials.includes(error.code ?? '')) lookup(hostname, options, answer)
    else answer(error, ...found)
  })
}

// Addresses that are not on the public internet (IANA special-purpose registries), those that embed an IPv4 address
// (SIIT, NAT64, 6to4, Teredo), through which a private one could be reached, and the host agent of Azure. The network
// policies of Kubernetes except the same ranges.
export const privateRanges = {
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
  ipv6: [
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
    '5f00::/16',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
  ],
} as const

const blocked = new BlockList()
for (const family of ['ipv4', 'ipv6'] as const) {
  for (const range of privateRanges[family]) {
    const [address, bits] = range.split('/') as [string, string]
    blocked.addSubnet(address, Number(bits), family)
  }
}

/** Whether this is an IP address outside the public internet. False for names. */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  // An IPv4 address inside an IPv6 one (::ffff:10.0.0.1) is checked as the IPv4 address.
  return family !== 0 && blocked.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Returns why nothing may be posted to the host of a URL, or null. It must have public addresses only; it is resolved
 * again for each delivery, because it may have changed by then. Ends within the time limit of the lookup.
 */
export async function objectionToHost(
  url: string,
  lookup: LookupFunction = publicLookup(),
): Promise<'private' | 'unknown_host' | null> {
  return new Promise((resolve) => {
    lookup(hostOf(url), { all: true }, (error) => resolve(error && objectionOfLookup(error)))
  })
}

/** Returns the objections that need no look-up of the host. */
export function objectionToUrl(url: string, privateAddresses: boolean): 'not_https' | 'private' | null {
  if (privateAddresses) return null
  if (new URL(url).protocol !== 'https:') return 'not_https'
  return isPrivateAddress(hostOf(url)) ? 'private' : null
}

export function objectionOfLookup({ code }: NodeJS.ErrnoException): 'private' | 'unknown_host' {
  return code === privateAddressCode ? 'private' : 'unknown_host'
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}
