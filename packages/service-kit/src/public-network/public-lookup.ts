import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPrivateAddress } from './private-address.ts'

/** The code of the error that a look-up ends with when a name leads to a private address. */
export const privateAddressCode = 'PRIVATE_ADDRESS'

/**
 * A look-up for `net.connect` that fails when any of a name's addresses is private. The socket connects to the very
 * address that was checked, so a name that resolves differently a moment later changes nothing.
 */
export function publicLookup(resolve: LookupFunction = lookup): LookupFunction {
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
