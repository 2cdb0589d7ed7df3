import { test } from 'vitest'
import { openFixture } from './fixture.ts'
import { freshDatabase } from './fresh-database.ts'
import { freshRedis } from './fresh-redis.ts'
import type { ServiceName } from './service-in-process.ts'
import { openServices, type ServiceStackOptions } from './service-stack.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs, and an empty one is required for nothing */

/**
 * Where the services of a file run.
 *   shared  this process, shared with the files before and after: for rules that each test checks with its own
 *           tenant
 *   own     this process, for this file alone: for settings, stops, or figures over all tenants
 */
export type StackKind = 'shared' | 'own'

type Settings = Partial<Record<ServiceName, Record<string, string>>>

type Counts = Pick<
  ServiceStackOptions,
  'ledgers' | 'gateways' | 'workers' | 'consoles' | 'processes' | 'providerSettings'
>

/** Opens services on a database and a Redis that nothing else uses, with a fixture in it. */
export async function openStack(settings: Settings = {}, counts: Counts = {}) {
  const [database, redis] = [await freshDatabase(), await freshRedis()]
  const environment = Object.fromEntries(Object.entries(settings).map(([service, own]) => [service, () => own]))
  const services = await openServices({ ...database, redisUrl: redis.url, workers: 1, ...counts, environment })
  const fixture = await openFixture(database.adminUrl)
  return {
    database,
    redis,
    services,
    fixture,
    async close() {
      await fixture.close()
      await services.stop()
      await redis.drop()
      await database.drop()
    },
  }
}

const shared = onceAWorker(
  () => openStack(),
  (stack) => stack.close(),
)

/**
 * `test` with the whole service: a ledger, a gateway, a worker and the console. A file extends it with another `kind`,
 * `settings` (variables by service) or `counts`, which imply `own`; `processes` of the counts names the services that its
 * tests kill or pause. A file never calls `override`, which changes this very object for every later file of the vitest
 * worker.
 */
export const stackTest = test
  .extend('sharedStack', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open
  })
  .extend('kind', { scope: 'file' }, (): StackKind => 'shared')
  .extend('settings', { scope: 'file' }, (): Settings => ({}))
  .extend('counts', { scope: 'file' }, (): Counts => ({}))
  .extend('opened', { scope: 'file' }, async ({ sharedStack, kind, settings, counts }, { onCleanup }) => {
    if (kind === 'shared' && Object.keys({ ...settings, ...counts }).length === 0) {
      const shared = await sharedStack()
      const { control } = shared.services.provider
      onCleanup(async () => {
        await control.clearFaults()
        await control.release()
        await control.clearCalls()
      })
      return shared
    }
    const own = await openStack(settings, counts)
    onCleanup(own.close)
    return own
  })
  .extend('database', { scope: 'file' }, ({ opened }) => opened.database)
  .extend('redis', { scope: 'file' }, ({ opened }) => opened.redis)
  .extend('services', { scope: 'file' }, ({ opened }) => opened.services)
  .extend('fixture', { scope: 'file' }, ({ opened }) => opened.fixture)

/**
 * Shares one thing among all test files of a vitest worker, created on first use. It is behind a fixture of scope
 * `worker`: vitest creates such a fixture again for each `test` that extends another one, and so for each file, but
 * files of a worker that are not isolated share modules, and with them this.
 * @returns `close` is safe to repeat: each of those fixtures calls it at its end, and vitest ends them with the worker.
 */
export function onceAWorker<T>(make: () => Promise<T>, end: (made: T) => Promise<unknown>) {
  let opened: Promise<T> | undefined
  let closed: Promise<unknown> | undefined
  return {
    open: () => (opened ??= make()),
    close: async () => void (await (closed ??= opened?.then(end))),
  }
}
