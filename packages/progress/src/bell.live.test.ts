import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { openBell, type Bell } from './bell.ts'
import { channelOf } from './channel.ts'

function open(redisUrl: string): Bell & { troubles: Error[] } {
  const troubles: Error[] = []
  const bell = openBell({ redisUrl, onTrouble: (error) => troubles.push(error) })
  onTestFinished(() => bell.close())
  return { ...bell, troubles }
}

/** Counts rings and waits for them. */
function ear(): { onRing: () => void; count(): number; next(): Promise<void> } {
  let count = 0
  let heard = Promise.withResolvers<void>()
  return {
    onRing() {
      count++
      heard.resolve()
      heard = Promise.withResolvers<void>()
    },
    count: () => count,
    next: () => heard.promise,
  }
}

/** Rings until the ear hears: a ring may be lost while a connection is made. */
async function ringUntilHeard(bell: Bell, topic: string, next: Promise<void>): Promise<void> {
  const timer = setInterval(() => bell.ring(topic), 5)
  await next
  clearInterval(timer)
}

liveTest(
  'a ring is heard on another connection, by whoever listens to the topic and nobody else',
  async ({ redis }) => {
    const [here, there] = [open(redis.url), open(redis.url)]
    const [one, other] = [ear(), ear()]
    const began = Promise.all([one.next(), other.next()])
    there.listen(`${redis.prefix}-one`, one.onRing)
    there.listen(`${redis.prefix}-other`, other.onRing)
    await began // the subscriptions stand
    const heard = one.next()
    await ringUntilHeard(here, `${redis.prefix}-one`, heard)
    expect(other.count()).toBe(1)
  },
)

liveTest('a thousand rings in one turn are one message', async ({ redis }) => {
  const bell = open(redis.url)
  const counter = new Redis(redis.url)
  onTestFinished(() => counter.disconnect())
  const topic = `${redis.prefix}-many`
  const ends = `${redis.prefix}-end`
  const listener = ear()
  const began = listener.next()
  bell.listen(ends, listener.onRing)
  await began
  await ringUntilHeard(bell, ends, listener.next()) // the publisher is ready
  let messages = 0
  await counter.subscribe(channelOf(topic))
  counter.on('message', () => messages++)
  for (let n = 0; n < 1_000; n++) bell.ring(topic)
  await bell.close() // everything has gone
  await counter.unsubscribe(channelOf(topic)) // and arrived: Redis keeps the order of a connection
  expect(messages).toBe(1)
})

liveTest('a topic has one subscription while anybody listens, and none after', async ({ redis }) => {
  const bell = open(redis.url)
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const topic = `${redis.prefix}-counted`
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(topic)))[1])
  const [one, two] = [ear(), ear()]
  const began = one.next()
  const leaveOne = bell.listen(topic, one.onRing)
  const leaveTwo = bell.listen(topic, two.onRing)
  await began
  expect(await subscribers()).toBe(1)
  leaveOne()
  leaveOne() // twice is once
  await ringUntilHeard(bell, topic, two.next())
  expect(one.count()).toBe(1)
  leaveTwo()
  const another = ear()
  const stands = another.next()
  bell.listen(`${topic}-2`, another.onRing)
  await stands // after the unsubscription, on the same connection
  expect(await subscribers()).toBe(0)
})

liveTest('after a restart of Redis listeners are rung once, and hear again', async ({ redisServer }) => {
  const bell = open(redisServer.url)
  const listener = ear()
  const began = listener.next()
  bell.listen('topic', listener.onRing)
  await began
  await ringUntilHeard(bell, 'topic', listener.next())
  const again = listener.next()
  await redisServer.stopImmediately()
  bell.ring('topic') // dropped, and nobody is told
  await redisServer.restart()
  await again
  await ringUntilHeard(bell, 'topic', listener.next())
  expect(bell.troubles.length).toBeGreaterThan(0)
})

liveTest('what is listened to before Redis answers is heard when it does', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  await proxy.down()
  const bell = open(proxy.through(redis.url))
  const listener = ear()
  const began = listener.next()
  bell.listen(`${redis.prefix}-late`, listener.onRing)
  bell.ring(`${redis.prefix}-late`) // dropped
  await proxy.up()
  await began
  await ringUntilHeard(bell, `${redis.prefix}-late`, listener.next())
})

liveTest('a connection on which Redis does not answer is given up for another', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const bell = open(proxy.through(redis.url))
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const topic = `${redis.prefix}-stalled`
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(topic)))[1])
  const listener = ear()
  const began = listener.next()
  bell.listen(topic, listener.onRing)
  await began
  void proxy.stall('toClient')
  const other = ear()
  bell.listen(`${topic}-2`, other.onRing) // gets no answer
  await expect.poll(subscribers, { timeout: 30_000 }).toBe(0)
  const again = Promise.all([listener.next(), other.next()])
  proxy.heal()
  await again
  await ringUntilHeard(bell, topic, listener.next())
})

liveTest('closing ends though Redis does not answer', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const bell = open(proxy.through(redis.url))
  const listener = ear()
  const began = listener.next()
  bell.listen(`${redis.prefix}-closing`, listener.onRing)
  await began
  await ringUntilHeard(bell, `${redis.prefix}-closing`, listener.next())
  const stalled = proxy.stall('toClient')
  bell.ring(`${redis.prefix}-closing`)
  await stalled
  await bell.close()
})
