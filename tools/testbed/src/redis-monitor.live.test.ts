import { Redis } from 'ioredis'
import { expect, inject, test } from 'vitest'
import { monitorRedis } from './redis-monitor.ts'

test('sees the commands of others from the first one on, as they were sent', async () => {
  const url = inject('testServers').redisUrl
  const other = new Redis(url)
  const odd = 'a "quoted" \\ line\nand bytes \u0000'
  for (let round = 0; round < 50; round++) {
    let sending = true
    const flood = (async () => {
      while (sending) await Promise.all(Array.from({ length: 50 }, () => other.echo('flood')))
    })()
    const seen: string[][] = []
    const monitor = await monitorRedis(url, ({ words }) => seen.push(words))
    await other.echo(odd)
    await monitor.caughtUp()
    monitor.stop()
    sending = false
    await flood
    expect(seen).toContainEqual(['echo', odd])
  }
  other.disconnect()
})
