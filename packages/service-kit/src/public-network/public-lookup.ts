import { CONNREFUSED, lookup, NODATA, NOTFOUND } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { openNameLookup } from './name-lookup.ts'

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
