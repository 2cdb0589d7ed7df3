import { expect, test } from 'vitest'
import { answerErrors, answerOfRefusal } from './answers.ts'
import { allowOnly, notFound, openApp } from './routes.ts'
import type { Refusal } from '@gateway/api/refusal'
import { mountHealth } from './preamble.ts'
import { serve } from './serve.fixture.ts'

async function healthy(otherMethods?: ReturnType<typeof allowOnly>) {
  const app = openApp()
  mountHealth(
    app,
    {
      live: () => ({ status: 200, body: { status: 'live' } }),
      ready: async () => ({ status: 503, body: { status: 'not ready', reasons: { ledger: 'it does not answer' } } }),
    },
    otherMethods,
  )
  app.use(notFound)
  app.use(answerErrors((error) => answerOfRefusal(error as Refusal)))
  return (await serve(app)).url
}

test('reports liveness and readiness', async () => {
  const url = await healthy()
  const live = await fetch(`${url}/health/live`)
  expect([live.status, await live.json()]).toEqual([200, { status: 'live' }])
  const ready = await fetch(`${url}/health/ready`)
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'not ready', reasons: { ledger: 'it does not answer' } },
  ])
})

test('does not serve metrics', async () => {
  expect((await fetch(`${await healthy()}/metrics`)).status).toBe(404)
})

test.each(['/health/live', '/health/ready'])('%s accepts only reads', async (path) => {
  const ask = async (url: string, method: string) => (await fetch(url + path, { method })).status
  expect(await ask(await healthy(), 'POST')).toBe(404)
  expect(await ask(await healthy(allowOnly('GET')), 'POST')).toBe(405)
  expect(await ask(await healthy(allowOnly('GET')), 'HEAD')).not.toBe(405)
})
