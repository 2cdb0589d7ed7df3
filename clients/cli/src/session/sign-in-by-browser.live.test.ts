import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { json, scriptedTest as test } from '@gateway/api-client/scripted-server'
import { expect } from 'vitest'
import { askLine } from '../frame/io.ts'
import { signInByBrowser, type SignedIn } from './sign-in-by-browser.ts'

test('sign-in by browser ends although the browser keeps a silent connection', async ({ server }) => {
  server.answers(json({ secret: 'svu_1', token: { id: 'tok_1' } }, 201))
  const visited = Promise.withResolvers<Visit>()
  const kept: SignedIn[] = []
  await signInByBrowser(
    {
      env: {},
      say: () => {},
      ask: (_question, { signal } = {}) =>
        askLine({ input: new PassThrough(), output: new PassThrough(), hidden: true, signal }, () => {}),
      openBrowser: (address) => visited.resolve(visit(address)),
    },
    server.url,
    async (got) => void kept.push(got),
  )
  expect(kept).toEqual([{ token: 'svu_1', tokenId: 'tok_1' }])
  const { answer, spareClosed } = await visited.promise
  expect((await answer).headers.get('location')).toMatch(/done=true$/)
  await spareClosed
})

interface Visit {
  answer: Promise<Response>
  spareClosed: Promise<unknown>
}

/** Opens a connection that stays silent, as browsers do in advance, and sends the code over another one. */
async function visit(address: string): Promise<Visit> {
  const { searchParams } = new URL(address)
  const [port, state] = [Number(searchParams.get('port')), searchParams.get('state')!]
  const spare = connect(port, '127.0.0.1')
  await once(spare, 'connect')
  const query = new URLSearchParams({ code: 'abc', state })
  const answer = fetch(`http://127.0.0.1:${port}/?${query.toString()}`, { redirect: 'manual' })
  return { answer, spareClosed: once(spare, 'close') }
}
