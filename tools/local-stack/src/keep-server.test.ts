import { expect, test } from 'vitest'
import { keepServer } from './start-stack.ts'

function serverThatEnds({ failingRestarts = 0 } = {}) {
  let life = Promise.withResolvers<void>()
  const restarts: number[] = []
  let failures = failingRestarts
  return {
    restarts,
    crash: () => life.resolve(),
    get ended() {
      return life.promise
    },
    restart: async () => {
      restarts.push(restarts.length)
      if (failures-- > 0) throw new Error('the disk is full')
      life = Promise.withResolvers<void>()
    },
  }
}

test('a server that ends is restarted, with as many attempts as needed', async () => {
  const stop = new AbortController()
  const server = serverThatEnds({ failingRestarts: 1 })
  const logged: string[] = []
  const back = Promise.withResolvers<void>()
  const kept = keepServer('redis', server, {
    stopping: stop.signal,
    backOffMs: 1,
    log: (line) => {
      logged.push(line)
      if (line === 'redis is back') back.resolve()
    },
  })
  server.crash()
  await back.promise
  expect(logged).toEqual([
    'redis ended, restarting it',
    'redis did not start: the disk is full',
    'redis ended, restarting it',
    'redis is back',
  ])
  stop.abort()
  await kept
})

test('a server that ends during shutdown is not restarted', async () => {
  const stop = new AbortController()
  const server = serverThatEnds()
  const kept = keepServer('redis', server, { stopping: stop.signal, log: () => {} })
  stop.abort()
  server.crash()
  await kept
  expect(server.restarts).toEqual([])
})
