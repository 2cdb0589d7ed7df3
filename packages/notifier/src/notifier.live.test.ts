import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { openNotifier, type Notifier } from './notifier.ts'
import { channelOf, topicsOf } from './channel.ts'

function open(redisUrl: string): Notifier & { troubles: Error[] } {
  const troubles: Error[] = []
  const notifier = openNotifier({ redisUrl, onTrouble: (error) => troubles.push(error) })
  onTestFinished(() => notifier.close())
  return { ...notifier, troubles }
}

/** Counts rings and waits for them. */
function ear(): { onNotify: () => void; count(): number; next(): Promise<void> } {
  let count = 0
  let heard = Promise.withResolvers<void>()
  return {
    onNotify() {
      count++
      heard.resolve()
      heard = Promise.withResolvers<void>()
    },
    count: () => count,
    next: () => heard.promise,
  }
}

/** Rings until the ear hears: a ring may be lost while a connection is made. */
async function ringUntilHeard(notifier: Notifier, topic: string, next: Promise<void>): Promise<void> {
  const timer = setInterval(() => notifier.notify(topic), 5)
  await next
  clearInterval(timer)
}

liveTest(
  'a ring is heard on another connection, by whoever listens to the topic and nobody else',
  async ({ redis }) => {
    const [here, there] = [open(redis.url), open(redis.url)]
    const [one, other] = [ear(), ear()]
    const began = Promise.all([one.next(), other.next()])
    there.listen(`${redis.prefix}-one`, one.onNotify)
    there.listen(`${redis.prefix}-other`, other.onNotify)
    await began // the subscription stands
    const heard = one.next()
    await ringUntilHeard(here, `${redis.prefix}-one`, heard)
    expect(other.count()).toBe(1)
  },
)

liveTest('a thousand rings in one turn are one message', async ({ redis }) => {
  const notifier = open(redis.url)
  const counter = new Redis(redis.url)
  onTestFinished(() => counter.disconnect())
  const topic = `${redis.prefix}-many`
  const ends = `${redis.prefix}-end`
  const listener = ear()
  const began = listener.next()
  notifier.listen(ends, listener.onNotify)
  await began
  await ringUntilHeard(notifier, ends, listener.next()) // the publisher is ready
  let messages = 0
  await counter.subscribe(channelOf(topic))
  counter.on('message', (_channel, message) => {
    if (topicsOf(message).includes(topic)) messages++
  })
  for (let n = 0; n < 1_000; n++) notifier.notify(topic)
  await notifier.close() // everything has gone
  await counter.unsubscribe(channelOf(topic)) // and arrived: Redis keeps the order of a connection
  expect(messages).toBe(1)
})

liveTest('topics of a kind share a subscription: who listens to one more of it hears at once', async ({ redis }) => {
  const notifier = open(redis.url)
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const kind = redis.prefix.replaceAll(/\W/g, '')
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(`${kind}:`)))[1])
  const [one, two, three] = [ear(), ear(), ear()]
  const began = one.next()
  const leaveOne = notifier.listen(`${kind}:first`, one.onNotify)
  await began
  const leaveTwo = notifier.listen(`${kind}:first`, two.onNotify)
  notifier.listen(`${kind}:second`, three.onNotify)
  expect(await subscribers()).toBe(1)
  leaveOne()
  leaveOne() // twice is once
  await ringUntilHeard(notifier, `${kind}:first`, two.next())
  expect(one.count()).toBe(1)
  leaveTwo()
  const heard = two.count()
  await ringUntilHeard(notifier, `${kind}:second`, three.next())
  notifier.notify(`${kind}:first`)
  const last = three.next()
  notifier.notify(`${kind}:second`) // goes along, after it
  await last
  expect([one.count(), two.count()]).toEqual([1, heard])
  expect(await subscribers()).toBe(1)
})

liveTest('after a restart of Redis listeners are rung once, and hear again', async ({ redisServer }) => {
  const notifier = open(redisServer.url)
  const listener = ear()
  const began = listener.next()
  notifier.listen('topic', listener.onNotify)
  await began
  await ringUntilHeard(notifier, 'topic', listener.next())
  const again = listener.next()
  await redisServer.stopImmediately()
  notifier.notify('topic') // dropped, and nobody is told
  await redisServer.restart()
  await again
  await ringUntilHeard(notifier, 'topic', listener.next())
  expect(notifier.troubles.length).toBeGreaterThan(0)
})

liveTest('what is listened to before Redis answers is heard when it does', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  await proxy.down()
  const notifier = open(proxy.through(redis.url))
  const listener = ear()
  const began = listener.next()
  notifier.listen(`${redis.prefix}-late`, listener.onNotify)
  notifier.notify(`${redis.prefix}-late`) // dropped
  await proxy.up()
  await began
  await ringUntilHeard(notifier, `${redis.prefix}-late`, listener.next())
})

liveTest('a connection on which Redis does not answer is given up for another', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const notifier = open(proxy.through(redis.url))
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const topic = `${redis.prefix.replaceAll(/\W/g, '')}:stalled`
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(topic)))[1])
  const listener = ear()
  const began = listener.next()
  notifier.listen(topic, listener.onNotify)
  await began
  void proxy.stall('toClient')
  const other = ear()
  const listensAgain = () => notifier.listen(`${topic}-2`, other.onNotify) // after a while this is a proof, and gets no answer
  await expect
    .poll(
      () => {
        listensAgain()
        return subscribers()
      },
      { timeout: 30_000 },
    )
    .toBe(0)
  const again = Promise.all([listener.next(), other.next()])
  proxy.heal()
  await again
  await ringUntilHeard(notifier, topic, listener.next())
})

liveTest('closing ends though Redis does not answer', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const notifier = open(proxy.through(redis.url))
  const listener = ear()
  const began = listener.next()
  notifier.listen(`${redis.prefix}-closing`, listener.onNotify)
  await began
  await ringUntilHeard(notifier, `${redis.prefix}-closing`, listener.next())
  const stalled = proxy.stall('toClient')
  notifier.notify(`${redis.prefix}-closing`)
  await stalled
  await notifier.close()
})
