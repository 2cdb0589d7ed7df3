// Links with a secret in the fragment, which browsers send to no server.

/** The secret of the link that opened the page, or null. */
export function secretInAddress(hash: string): string | null {
  return /^#?([\w-]{43})$/.exec(hash)?.[1] ?? null
}

/** A link of the API, which has no host if the operator names no public address. */
export function onThisHost(link: string): string {
  return new URL(link, location.origin).href
}
