import { randomBytes } from 'node:crypto'
import { bundleServices } from '@gateway/local-stack/bundle-services'
import type { TestProject } from 'vitest/node'
import { containerRefusal, containersWanted } from './containers.ts'
import { removeTemporaryFolders, startTestServers, type TestServers } from './test-servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testServers: TestServers
    /**
     * The share of its cases that a property test runs. Unit tests: a tenth for `npm run test:unit`, else 1. Live
     * tests: 1 for `npm run test:full`, else a quarter.
     */
    propertyShare: number
  }
}

// The live tests and the scenarios are two vitest projects, each with a separate copy of this module. They share one
// set of servers, which is therefore stored on the process.
const shared = globalThis as typeof globalThis & {
  gatewayTestServers?: { users: number; started: ReturnType<typeof startTestServers> }
}

/**
 * Starts the servers for the whole run and passes their addresses to the tests. TEST_DATABASE_URL and TEST_REDIS_URL
 * name servers to use instead; TEST_CONTAINERS=1 selects containers for
 * these servers and for those of single tests.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const refusal = containersWanted() ? await containerRefusal() : null
  if (refusal !== null) {
    console.error(refusal) // without the stack, and the files that were not run
    process.exit(1)
  }
  process.env.TEST_RUN ??= randomBytes(4).toString('hex') // the workers inherit it
  const servers = (shared.gatewayTestServers ??= {
    users: 0,
    started: startTestServers({
      databaseUrl: process.env.TEST_DATABASE_URL,
      redisUrl: process.env.TEST_REDIS_URL,
      containers: containersWanted(),
      log: console.log,
    }),
  })
  servers.users++
  const [{ stop, ...facts }] = await Promise.all([servers.started, bundleServices()])
  project.provide('testServers', facts)
  return async () => {
    if (--servers.users > 0) return
    delete shared.gatewayTestServers
    await stop()
    await removeTemporaryFolders()
  }
}
