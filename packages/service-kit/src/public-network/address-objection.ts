import type { LookupFunction } from 'node:net'
import { isPrivateAddress, privateAddressCode, publicLookup } from './public-lookup.ts'

/** Why nothing may be sent to an address of a user. */
export type Objection = 'not_https' | 'private' | 'unknown_host'

/**
 * Returns why nothing may be posted there, or null. A host name must resolve to public addresses only; it is resolved
 * again for each delivery, because it may have changed by then. Ends within the time limit of the lookup.
 */
export async function objectionTo(
  url: string,
  privateAddresses: boolean,
  lookup: LookupFunction = publicLookup(),
): Promise<Objection | null> {
  const objection = objectionToUrl(url, privateAddresses)
  if (objection !== null || privateAddresses) return objection
  return new Promise((resolve) => {
    lookup(hostOf(url), { all: true }, (error) => resolve(error && objectionOfLookup(error)))
  })
}

/** Returns the objections that need no look-up of the host. */
export function objectionToUrl(url: string, privateAddresses: boolean): Objection | null {
  if (privateAddresses) return null
  if (new URL(url).protocol !== 'https:') return 'not_https'
  return isPrivateAddress(hostOf(url)) ? 'private' : null
}

export function objectionOfLookup({ code }: NodeJS.ErrnoException): Objection {
  return code === privateAddressCode ? 'private' : 'unknown_host'
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}
