import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { aliveTopic } from '@gateway/ledger-protocol/ledger-reads'
import { openDatabase } from '@gateway/database/client'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import { createLogger } from '@gateway/service-kit/process/logger'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { untilBlocked } from '../fixtures/ledger-test.ts'
import { test as clockTest } from '../fixtures/set-clock.ts'
import { openSignsOfLife, recordHeartbeat } from '../instances/signs-of-life.ts'
import { monitorInstances } from './maintenance-jobs.ts'

// Two ledger replicas monitor instances that send heartbeats to one of them. The test sets the clock.

const LOOK_MS = 250
const AWAY_MS = 10_000
/** More than a sign of life takes through Redis and Postgres. */
const SIGN_MS = 250

type Replica = 'here' | 'there'

interface Kind {
  service: 'worker' | 'gateway'
  deadAfterMs: number
  heartbeatMs: number
}

const KINDS: Record<string, Kind> = {
  'a worker, dead after 3 s': { service: 'worker', deadAfterMs: 3_000, heartbeatMs: 1_000 },
  'a gateway, dead after 15 s': { service: 'gateway', deadAfterMs: 15_000, heartbeatMs: 5_000 },
}

const test = clockTest
  .extend('pool', { scope: 'file' }, async ({ database, clock: _ }, { onCleanup }) => {
    const pool = await openDatabase({ url: database.ledgerUrl, poolSize: 2 })
    onCleanup(pool.close)
    return pool
  })
  .extend('notifier', { scope: 'file' }, async ({ redis }, { onCleanup }) => {
    const notifier = openNotifier({ redisUrl: redis.url })
    onCleanup(() => notifier.close())
    return notifier
  })
  .extend('watch', async ({ pool, fixture, clock, notifier, task }) => {
    const process = { nowMs: 0 }
    const log = createLogger({ service: 'ledger', level: 'fatal' })
    const depsOf = (replica: Replica) => ({ reads: pool, replicaId: `${replica} ${task.id}` })
    const signs = (replica: Replica) => openSignsOfLife({ ...depsOf(replica), notifier, log, now: () => process.nowMs })
    const signsOf = { here: signs('here'), there: signs('there') }
    const look = (...replicas: Replica[]) =>
      Promise.all(replicas.map((one) => monitorInstances(depsOf(one), signsOf[one])))
    const giveSign = (name: string) => notifier.notify(aliveTopic(`${name} ${task.id}`))
    /** Whether its silence counts from the current moment. */
    const isHeardNow = async (name: string) => {
      const { rows } = await fixture.run(
        'SELECT watched_from = (SELECT at::timestamptz(3) FROM set_clock.hands) AS now FROM money.instances WHERE id = $1',
        [`${name} ${task.id}`],
      )
      return (rows as { now: boolean }[])[0]!.now
    }
    const untilHeard = async (name: string, by: Replica = 'there') => {
      await pass(LOOK_MS, by) // so that no takeover is mistaken for a sign of life
      await expect
        .poll(() => {
          giveSign(name)
          return isHeardNow(name)
        })
        .toBe(true)
      await delay(SIGN_MS) // the clock is stopped, so signs still in flight change nothing
    }
    const heartbeat = (name: string, { service, deadAfterMs }: Kind, through: Replica = 'here') =>
      recordHeartbeat(depsOf(through), { instance: `${name} ${task.id}`, service, deadAfterMs })
    const isAlive = async (name: string) => {
      const { rows } = await fixture.run('SELECT ended_at FROM money.instances WHERE id = $1', [`${name} ${task.id}`])
      return (rows as { ended_at: Date | null }[])[0]!.ended_at === null
    }
    /** Advances the clock in steps of LOOK_MS, with a check by these replicas after each. */
    const pass = async (ms: number, ...replicas: Replica[]) => {
      for (let passed = 0; passed < ms; passed += LOOK_MS) {
        await clock.turn(Math.min(LOOK_MS, ms - passed))
        await look(...replicas)
      }
    }
    /** Returns how long it takes until the instance is ended while these replicas check it. */
    const untilEnded = async (name: string, ...replicas: Replica[]) => {
      for (let ms = LOOK_MS; ms <= 60_000; ms += LOOK_MS) {
        await pass(LOOK_MS, ...replicas)
        if (!(await isAlive(name))) return ms
      }
      throw new Error(`${name} is never ended`)
    }
    await look('here', 'there')
    await pass(1_000, 'here', 'there')
    return { look, heartbeat, isAlive, pass, untilEnded, giveSign, untilHeard, process }
  })

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  const { deadAfterMs, heartbeatMs } = kind

  test('is ended once it has been silent for that long, and not before', async ({ watch }) => {
    await watch.heartbeat('quiet', kind)
    await watch.heartbeat('loud', kind)
    for (let silentMs = 0; silentMs < deadAfterMs; silentMs += LOOK_MS) {
      await watch.pass(LOOK_MS, 'here', 'there')
      await watch.heartbeat('loud', kind)
      expect(await watch.isAlive('quiet')).toBe(true)
    }
    await watch.pass(LOOK_MS, 'here', 'there')
    expect([await watch.isAlive('quiet'), await watch.isAlive('loud')]).toEqual([false, true])
    expect([await watch.heartbeat('quiet', kind), await watch.heartbeat('loud', kind)]).toEqual([
      { alive: false },
      { alive: true },
    ])
  })

  const GAPS_MS = [700, 900, 1_100, 2_500, 4_000, 4_900, 5_100, 6_500, 9_900, 14_000, 17_000, 3_600_000, 86_400_000]
  test.for([...GAPS_MS, -60_000])(
    'stays alive if everything pauses for %i ms and the ledger checks it before its next heartbeat',
    async (gapMs, { watch, clock }) => {
      await watch.heartbeat('loud', kind)
      await watch.heartbeat('dead', kind)
      await watch.pass(heartbeatMs - LOOK_MS, 'here', 'there') // the next heartbeat would be due
      await clock.turn(gapMs)
      await watch.look('here', 'there')
      await watch.pass(2 * LOOK_MS, 'here', 'there')
      expect(await watch.isAlive('loud')).toBe(true)
      expect(await watch.heartbeat('loud', kind)).toEqual({ alive: true })
      // An instance that stays silent from now on is ended as if its silence had started at the end of the gap.
      expect(await watch.untilEnded('dead', 'here', 'there')).toBeLessThanOrEqual(deadAfterMs)
    },
  )

  test('stays alive if everything pauses repeatedly', async ({ watch, clock }) => {
    await watch.heartbeat('loud', kind)
    for (let n = 0; n < 20; n++) {
      await clock.turn(deadAfterMs / 2)
      await watch.look('here', 'there')
      await watch.pass(2 * LOOK_MS, 'here', 'there')
    }
    expect(await watch.isAlive('loud')).toBe(true)
  })

  test('stays alive if only the replica that receives its heartbeats pauses', async ({ watch }) => {
    for (const gapMs of [1_000, 4_000, 6_000, 10_000]) {
      await watch.heartbeat('loud', kind)
      await watch.pass(heartbeatMs, 'here', 'there')
      await watch.pass(gapMs, 'there')
      await watch.look('here')
      await watch.pass(2 * LOOK_MS, 'here', 'there')
      expect(await watch.isAlive('loud')).toBe(true)
    }
  })

  test('is ended by another replica if it died together with its own', async ({ watch }) => {
    await watch.heartbeat('dead', kind)
    await watch.pass(LOOK_MS, 'here', 'there')
    const ms = await watch.untilEnded('dead', 'there')
    expect(ms).toBeGreaterThan(AWAY_MS)
    expect(ms).toBeLessThanOrEqual(AWAY_MS + deadAfterMs + 2 * LOOK_MS) // less than 30 s for a gateway
  })

  test('is ended by another replica if the clock went back when it died together with its own', async ({
    watch,
    clock,
  }) => {
    await watch.heartbeat('dead', kind)
    await watch.pass(LOOK_MS, 'here', 'there')
    await clock.turn(-60_000)
    expect(await watch.untilEnded('dead', 'there')).toBeLessThanOrEqual(AWAY_MS + deadAfterMs + 2 * LOOK_MS)
  })

  test('stays alive if its replica died and it reaches another one before its time is up', async ({ watch }) => {
    await watch.heartbeat('moved', kind)
    await watch.pass(AWAY_MS + deadAfterMs - LOOK_MS, 'there')
    expect(await watch.heartbeat('moved', kind, 'there')).toEqual({ alive: true })
    await watch.pass(deadAfterMs, 'there')
    expect(await watch.isAlive('moved')).toBe(true)
    expect(await watch.untilEnded('moved', 'there')).toBeLessThanOrEqual(LOOK_MS)
  })
})

describe('an instance whose replica is gone and that reaches no other replica', () => {
  const kind = KINDS['a gateway, dead after 15 s']!

  test('stays alive while it sends signs of life, and can resume its heartbeats', async ({ watch }) => {
    await watch.heartbeat('cut off', kind)
    await watch.pass(AWAY_MS + LOOK_MS, 'there')
    for (let n = 0; n < 6; n++) {
      await watch.pass(10_000, 'there')
      await watch.untilHeard('cut off')
    }
    expect(await watch.heartbeat('cut off', kind)).toEqual({ alive: true })
    await watch.pass(kind.heartbeatMs, 'here', 'there')
    expect(await watch.isAlive('cut off')).toBe(true)
  })

  test('is ended once its signs of life stop', async ({ watch }) => {
    await watch.heartbeat('cut off', kind)
    await watch.pass(AWAY_MS + LOOK_MS, 'there')
    await watch.untilHeard('cut off')
    const ms = await watch.untilEnded('cut off', 'there')
    expect(ms).toBeGreaterThan(kind.deadAfterMs)
    expect(ms).toBeLessThanOrEqual(kind.deadAfterMs + 2 * LOOK_MS)
  })

  test('is ended after two minutes despite its signs of life', async ({ watch }) => {
    await watch.heartbeat('cut off', kind)
    await watch.pass(AWAY_MS + LOOK_MS, 'there')
    await watch.untilHeard('cut off')
    watch.process.nowMs += 120_000
    await watch.look('there')
    const signs = setInterval(() => watch.giveSign('cut off'), 1)
    expect(await watch.untilEnded('cut off', 'there')).toBeLessThanOrEqual(kind.deadAfterMs + LOOK_MS)
    clearInterval(signs)
  })

  test('is not kept alive by signs of life if it is a worker whose own replica is running', async ({ watch }) => {
    const worker = KINDS['a worker, dead after 3 s']!
    await watch.heartbeat('quiet', worker)
    const signs = setInterval(() => watch.giveSign('quiet'), 1)
    expect(await watch.untilEnded('quiet', 'here', 'there')).toBeLessThanOrEqual(worker.deadAfterMs + LOOK_MS)
    clearInterval(signs)
  })
})

describe('a gateway that reaches no replica while its own replica is running', () => {
  const kind = KINDS['a gateway, dead after 15 s']!

  test('stays alive while it sends signs of life, but for two minutes at most', async ({ watch }) => {
    await watch.heartbeat('cut off', kind)
    await watch.pass(kind.deadAfterMs - LOOK_MS, 'here', 'there')
    for (let n = 0; n < 6; n++) {
      await watch.untilHeard('cut off', 'here')
      await watch.pass(kind.deadAfterMs - LOOK_MS, 'here', 'there')
    }
    expect(await watch.isAlive('cut off')).toBe(true)
    await watch.untilHeard('cut off', 'here')
    watch.process.nowMs += 120_000
    await watch.look('here')
    const signs = setInterval(() => watch.giveSign('cut off'), 1)
    expect(await watch.untilEnded('cut off', 'here', 'there')).toBeLessThanOrEqual(kind.deadAfterMs + LOOK_MS)
    clearInterval(signs)
  })

  test('gets two more minutes with each heartbeat that is received', async ({ watch }) => {
    for (let n = 0; n < 2; n++) {
      expect(await watch.heartbeat('cut off', kind)).toEqual({ alive: true })
      await watch.look('here', 'there')
      watch.process.nowMs += 60_000
      await watch.pass(kind.deadAfterMs - LOOK_MS, 'here', 'there')
      await watch.untilHeard('cut off', 'here')
      watch.process.nowMs += 60_000
      await watch.pass(kind.deadAfterMs - LOOK_MS, 'here', 'there')
    }
    expect(await watch.isAlive('cut off')).toBe(true)
  })
})

test('a check that pauses between reading the clock and ending instances does not end a live instance', async ({
  watch,
  database,
  fixture,
  clock,
  task,
}) => {
  const kind = KINDS['a worker, dead after 3 s']!
  await watch.heartbeat('loud', kind)
  await watch.pass(kind.heartbeatMs, 'here')
  const row = 'SELECT FROM money.instance_monitors WHERE id = $1 FOR UPDATE'
  const letGo = await keepLocked(database.adminUrl, row, [`here ${task.id}`])
  await clock.turn(LOOK_MS)
  const look = watch.look('here')
  await untilBlocked(fixture, look)
  await clock.turn(60_000)
  await letGo()
  await look
  expect(await watch.isAlive('loud')).toBe(true)
})

test('an instance stays alive after a period in which the database could not be queried', async ({
  watch,
  fixture,
  clock,
}) => {
  const kind = KINDS['a worker, dead after 3 s']!
  await watch.heartbeat('loud', kind)
  await fixture.run('ALTER TABLE money.instances RENAME TO instances_away')
  for (let n = 0; n < 20; n++) {
    await clock.turn(LOOK_MS)
    await expect(watch.look('here')).rejects.toThrow(/instances/)
  }
  await fixture.run('ALTER TABLE money.instances_away RENAME TO instances')
  await watch.pass(2 * LOOK_MS, 'here')
  expect(await watch.isAlive('loud')).toBe(true)
})
