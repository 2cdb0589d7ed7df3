import type { LookupFunction } from 'node:net'
import { isPrivateAddress } from '@gateway/service-kit/public-network/private-address'
import { privateAddressCode, publicLookup } from '@gateway/service-kit/public-network/public-lookup'

export type Objection = 'not_https' | 'private' | 'unknown_host'

/**
 * Why nothing may be posted there, or null. A name is looked up, and may lead to none but public addresses; it is looked up
 * again for each delivery, because it may lead elsewhere by then.
 */
export async function objectionTo(
  url: string,
  privateAddresses: boolean,
  lookup: LookupFunction = publicLookup(),
): Promise<Objection | null> {
  if (privateAddresses) return null
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:') return 'not_https'
  if (isPrivateAddress(hostname)) return 'private'
  return new Promise((resolve) => {
    lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }, (error) => {
      if (!error) resolve(null)
      else resolve(error.code === privateAddressCode ? 'private' : 'unknown_host')
    })
  })
}
