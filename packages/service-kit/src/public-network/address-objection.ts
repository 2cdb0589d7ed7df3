import type { LookupFunction } from 'node:net'
import { isPrivateAddress, privateAddressCode, publicLookup } from './public-lookup.ts'

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
