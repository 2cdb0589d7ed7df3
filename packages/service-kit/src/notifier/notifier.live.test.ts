import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { channelOf, type Notifier, openNotifier, topicsOf } from './notifier.ts'

function open(redisUrl: string): Notifier & { troubles: Error[] } {
  const troubles: Error[] = []
  const notifier = openNotifier({ redisUrl, onTrouble: (error) => troubles.push(error) })
  onTestFinished(() => notifier.close())
  return { ...notifier, troubles }
}

/** Counts notifications and waits for them. */
function newSubscriber(): { onNotify: () => void; count(): number; next(): Promise<void> } {
  let count = 0
  let called = Promise.withResolvers<void>()
  return {
    onNotify() {
      count++
      called.resolve()
      called = Promise.withResolvers<void>()
    },
    count: () => count,
    next: () => called.promise,
  }
}

/** Notifies until received: a notification may be lost while a connection is being opened. */
async function notifyUntilReceived(notifier: Notifier, topic: string, next: Promise<void>): Promise<void> {
  const timer = setInterval(() => notifier.notify(topic), 5)
  await next
  clearInterval(timer)
}

liveTest('a notification reaches only the subscribers of its topic, on any connection', async ({ redis }) => {
  const [here, there] = [open(redis.url), open(redis.url)]
  const [one, other] = [newSubscriber(), newSubscriber()]
  const began = Promise.all([one.next(), other.next()])
  there.subscribe(`${redis.prefix}-one`, one.onNotify)
  there.subscribe(`${redis.prefix}-other`, other.onNotify)
  await began // the channel is subscribed
  const received = one.next()
  await notifyUntilReceived(here, `${redis.prefix}-one`, received)
  expect(other.count()).toBe(1)
})

liveTest('a thousand notifications in one turn of the event loop are published as one message', async ({ redis }) => {
  const notifier = open(redis.url)
  const counter = new Redis(redis.url)
  onTestFinished(() => counter.disconnect())
  const topic = `${redis.prefix}-many`
  const ends = `${redis.prefix}-end`
  const subscriber = newSubscriber()
  const began = subscriber.next()
  notifier.subscribe(ends, subscriber.onNotify)
  await began
  await notifyUntilReceived(notifier, ends, subscriber.next()) // the publisher is ready
  let messages = 0
  await counter.subscribe(channelOf(topic))
  counter.on('message', (_channel, message) => {
    if (topicsOf(message).includes(topic)) messages++
  })
  for (let n = 0; n < 1_000; n++) notifier.notify(topic)
  await notifier.close() // everything is sent
  await counter.unsubscribe(channelOf(topic)) // and has arrived: Redis keeps the order of a connection
  expect(messages).toBe(1)
})

liveTest('topics of one kind share a subscription, so a further topic is received at once', async ({ redis }) => {
  const notifier = open(redis.url)
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const kind = redis.prefix.replaceAll(/\W/g, '')
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(`${kind}:`)))[1])
  const [one, two, three] = [newSubscriber(), newSubscriber(), newSubscriber()]
  const began = one.next()
  const unsubscribeOne = notifier.subscribe(`${kind}:first`, one.onNotify)
  await began
  const unsubscribeTwo = notifier.subscribe(`${kind}:first`, two.onNotify)
  notifier.subscribe(`${kind}:second`, three.onNotify)
  expect(await subscribers()).toBe(1)
  unsubscribeOne()
  unsubscribeOne() // the second call has no effect
  await notifyUntilReceived(notifier, `${kind}:first`, two.next())
  expect(one.count()).toBe(1)
  unsubscribeTwo()
  const received = two.count()
  await notifyUntilReceived(notifier, `${kind}:second`, three.next())
  notifier.notify(`${kind}:first`)
  const last = three.next()
  notifier.notify(`${kind}:second`) // sent together, after it
  await last
  expect([one.count(), two.count()]).toEqual([1, received])
  expect(await subscribers()).toBe(1)
})

liveTest('subscribers are called once after a restart of Redis, and then notified again', async ({ redisServer }) => {
  const notifier = open(redisServer.url)
  const subscriber = newSubscriber()
  const began = subscriber.next()
  notifier.subscribe('topic', subscriber.onNotify)
  await began
  await notifyUntilReceived(notifier, 'topic', subscriber.next())
  const again = subscriber.next()
  await redisServer.stopImmediately()
  notifier.notify('topic') // silently dropped
  await expect.poll(() => notifier.troubles.length).toBeGreaterThan(0) // it has tried to reach the stopped Redis
  await redisServer.restart()
  await again
  await notifyUntilReceived(notifier, 'topic', subscriber.next())
})

liveTest('a subscription made before Redis is reachable takes effect once it is', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  await proxy.down()
  const notifier = open(proxy.through(redis.url))
  const subscriber = newSubscriber()
  const began = subscriber.next()
  notifier.subscribe(`${redis.prefix}-late`, subscriber.onNotify)
  notifier.notify(`${redis.prefix}-late`) // dropped
  await proxy.up()
  await began
  await notifyUntilReceived(notifier, `${redis.prefix}-late`, subscriber.next())
})

liveTest('a silent connection to Redis is replaced', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const notifier = open(proxy.through(redis.url))
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const topic = `${redis.prefix.replaceAll(/\W/g, '')}:stalled`
  const subscribers = async () => Number((await looker.pubsub('NUMSUB', channelOf(topic)))[1])
  const subscriber = newSubscriber()
  const began = subscriber.next()
  notifier.subscribe(topic, subscriber.onNotify)
  await began
  void proxy.stall('toClient')
  const other = newSubscriber()
  const subscribesAgain = () => notifier.subscribe(`${topic}-2`, other.onNotify) // becomes a probe after a while, without a response
  await expect
    .poll(
      () => {
        subscribesAgain()
        return subscribers()
      },
      { timeout: 30_000 },
    )
    .toBe(0)
  const again = Promise.all([subscriber.next(), other.next()])
  proxy.heal()
  await again
  await notifyUntilReceived(notifier, topic, subscriber.next())
})

liveTest('notifications after those lost on a silent connection go out on a new one', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const notifier = open(proxy.through(redis.url))
  const listening = open(redis.url)
  const subscriber = newSubscriber()
  const began = subscriber.next()
  listening.subscribe(`${redis.prefix}-silent`, subscriber.onNotify)
  await began
  await notifyUntilReceived(notifier, `${redis.prefix}-silent`, subscriber.next())
  proxy.fallSilent()
  await notifyUntilReceived(notifier, `${redis.prefix}-silent`, subscriber.next())
})

liveTest('closing a notifier ends even if Redis does not respond', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const notifier = open(proxy.through(redis.url))
  const subscriber = newSubscriber()
  const began = subscriber.next()
  notifier.subscribe(`${redis.prefix}-closing`, subscriber.onNotify)
  await began
  await notifyUntilReceived(notifier, `${redis.prefix}-closing`, subscriber.next())
  const stalled = proxy.stall('toClient')
  notifier.notify(`${redis.prefix}-closing`)
  await stalled
  await notifier.close()
})

/** Collects texts, and resolves once there are enough. A null says that texts may have been lost. */
function newReceiver() {
  const texts: (string | null)[] = []
  return {
    texts,
    onText: (text: string | null) => void texts.push(text),
    until: (count: number) => expect.poll(() => texts.length, { interval: 5 }).toBeGreaterThanOrEqual(count),
  }
}

liveTest('texts reach those who receive their topic now, in order and unchanged', async ({ redis }) => {
  const [here, there] = [open(redis.url), open(redis.url)]
  const [one, other] = [newReceiver(), newReceiver()]
  const [topic, another] = [`${redis.prefix}-one`, `${redis.prefix}-other`]
  const end = there.receive(topic, one.onText)
  there.receive(another, other.onText)
  await Promise.all([one.until(1), other.until(1)])
  expect(await here.received([topic, another, `${redis.prefix}-none`])).toEqual(new Set([topic, another]))
  const texts = Array.from({ length: 200 }, (_, n) => `line ${n}\nÄ "quoted"`)
  for (const text of texts) here.send(topic, text)
  await one.until(201)
  expect(one.texts).toEqual([null, ...texts])
  expect(other.texts).toEqual([null])
  end()
  await expect.poll(async () => [...(await here.received([topic]))]).toEqual([])
  here.send(topic, 'to no one')
  expect(await here.received([another])).toEqual(new Set([another])) // after it, on the same connection
  expect(one.texts).toHaveLength(201)
})

liveTest('a receiver learns that texts may be lost after an outage of Redis', async ({ redisServer }) => {
  const [here, there] = [open(redisServer.url), open(redisServer.url)]
  const receiver = newReceiver()
  there.receive('topic', receiver.onText)
  await receiver.until(1)
  await redisServer.stopImmediately()
  here.send('topic', 'dropped')
  expect(await here.received(['topic'])).toEqual(new Set(['topic'])) // it cannot tell
  await redisServer.restart()
  await receiver.until(2)
  expect(receiver.texts).toEqual([null, null])
  await expect
    .poll(() => {
      here.send('topic', 'again')
      return receiver.texts.at(-1)
    })
    .toBe('again')
})
