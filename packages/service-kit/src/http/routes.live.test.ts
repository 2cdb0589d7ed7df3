import type { RequestHandler } from 'express'
import { Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { answerErrors, answerOfRefusal, internalAnswers } from './answers.ts'
import { mountRoutes, notFound, openApp } from './routes.ts'
import { serve } from './serve.fixture.ts'

const showThing: RequestHandler<{ id: string }> = (req, res) => void res.end(`read ${req.params.id}`)
const saying =
  (text: string): RequestHandler =>
  (_req, res) =>
    void res.end(text)

async function mounted() {
  const app = openApp()
  mountRoutes(app, [
    ['GET', '/things', saying('list')],
    ['POST', '/things', saying('create')],
    ['GET', '/things/:id', showThing],
  ])
  app.use(notFound)
  app.use(answerErrors((error) => answerOfRefusal(error as Refusal)))
  return (await serve(app)).url
}

describe('mountRoutes', () => {
  test('routes each method to its handler, with the parameters of the path', async () => {
    const url = await mounted()
    const ask = async (method: string, path: string) => (await fetch(url + path, { method })).text()
    expect(await ask('GET', '/things')).toBe('list')
    expect(await ask('POST', '/things')).toBe('create')
    expect(await ask('GET', '/things/a%20b')).toBe('read a b')
    expect(await ask('HEAD', '/things')).toBe('')
  })

  test('refuses another method and names the allowed ones [method_not_allowed]', async () => {
    const answer = await fetch(`${await mounted()}/things`, { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect(await answer.json()).toMatchObject({ error: { code: 'method_not_allowed' } })
  })

  test('refuses any other path [not_found]', async () => {
    const answer = await fetch(`${await mounted()}/other`)
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
  })
})

describe('an internal service', () => {
  async function internal() {
    const logged: object[] = []
    const app = openApp()
    app.get('/broken', () => {
      throw new Error('postgres://user:password@host')
    })
    app.get('/refused', () => {
      throw new Refusal('request_too_large', 'It is too long.', 'Send less.')
    })
    app.use(notFound)
    const log = { error: (fields: object) => logged.push(fields) }
    app.use(answerErrors(internalAnswers({ service: 'ledger', failure: 'The books cannot be reached now.', log })))
    const { url } = await serve(app)
    const ask = async (path: string) => {
      const answer = await fetch(url + path)
      return [answer.status, await answer.json()]
    }
    return { ask, logged }
  }

  test('responds to a refusal with its sentence, and logs nothing', async () => {
    const { ask, logged } = await internal()
    expect(await ask('/nowhere')).toEqual([
      404,
      { error: 'There is nothing here; app.ts of the ledger lists what there is.' },
    ])
    expect(await ask('/refused')).toEqual([413, { error: 'It is too long. Send less.' }])
    expect(logged).toEqual([])
  })

  test('hides the cause of a failure, and logs it', async () => {
    const { ask, logged } = await internal()
    expect(await ask('/broken')).toEqual([503, { error: 'The books cannot be reached now.' }])
    expect(logged).toEqual([
      { err: expect.objectContaining({ message: expect.stringContaining('@host') }), path: '/broken' },
    ])
  })
})
