import express, { type Express } from 'express'
import { commaSeparated } from '../process/config.ts'

/**
 * The `TRUSTED_PROXIES` variable: comma-separated addresses and ranges whose X-Forwarded-For is trusted. `loopback`,
 * `linklocal` and `uniquelocal` name the private ranges.
 */
export function trustedProxies() {
  return commaSeparated()
    .refine(areAddresses, {
      error:
        'expected addresses or ranges separated by commas, such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
    })
    .meta({
      description:
        'Comma-separated addresses and ranges of the proxies in front, such as 10.0.0.0/8. Only their X-Forwarded-For is trusted. Without it, none is',
    })
}

/** Makes `req.ip` the address of the caller behind these proxies. */
export function trustProxies(app: Express, proxies: readonly string[]): void {
  app.set('trust proxy', [...proxies])
}

/** Whether a peer is one of the proxies that the application trusts. */
export function isTrustedBy(app: Express): (address: string) => boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  return (address) => isTrusted(address, 0)
}

function areAddresses(names: string[]): boolean {
  try {
    trustProxies(express(), names)
    return true
  } catch {
    return false
  }
}
