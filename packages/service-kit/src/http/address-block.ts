import { isIPv6 } from 'node:net'

/**
 * Returns the address block of one subscriber. For IPv6 that is a /64, otherwise 2^64 separate callers to a throttle.
 */
export function addressBlock(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = plain.split('::')
  const before = head.split(':').filter((part) => part !== '')
  const after = (tail ?? '').split(':').filter((part) => part !== '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}
