import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openNameLookup } from './public-lookup.ts'

const ADDRESS = '93.184.216.34'

/** A name server that answers with one IPv4 address, and never for names that begin with `silent`. */
async function startNameServer() {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const name = nameIn(question)
    asked.push(name)
    if (!name.startsWith('silent')) socket.send(answerTo(question), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { asked, servers: [`127.0.0.1:${socket.address().port}`] }
}

const HEAD = 12

/** The labels of the question, each behind its length. */
function nameIn(question: Buffer): string {
  const labels: string[] = []
  for (let at = HEAD; question[at]! > 0; at += question[at]! + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]!))
  return labels.join('.').toLowerCase()
}

/** An A record for a question of type A, none for other types. */
function answerTo(question: Buffer): Buffer {
  const end = question.indexOf(0, HEAD) + 5
  const hasAnswer = question.readUInt16BE(end - 4) === 1
  const head = Buffer.from(question.subarray(0, HEAD))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(hasAnswer ? 1 : 0, 6)
  head.fill(0, 8)
  const record = Buffer.from([0xc0, HEAD, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...ADDRESS.split('.').map(Number)])
  return Buffer.concat([head, question.subarray(HEAD, end), ...(hasAnswer ? [record] : [])])
}

function ask(find: LookupFunction, name: string, family: 0 | 4 | 6 = 0): Promise<unknown> {
  return new Promise((resolve, reject) => {
    find(name, { all: true, family }, (error, found) => (error ? reject(error) : resolve(found)))
  })
}

test('names whose servers never answer delay neither others nor the look-ups of the machine', async () => {
  const { servers } = await startNameServer()
  const find = openNameLookup({ servers })
  const ended: string[] = []
  const silent = Array.from({ length: 40 }, (_, n) =>
    ask(find, `silent${n}.example`).catch(({ code }: NodeJS.ErrnoException) => ended.push(code!)),
  )
  expect(await ask(find, 'hooks.example')).toEqual([{ address: ADDRESS, family: 4 }])
  expect((await lookup('localhost')).address).toMatch(/^(127\.0\.0\.1|::1)$/)
  expect(ended).toEqual([])
  await Promise.all(silent)
  expect(new Set(ended)).toEqual(new Set(['ETIMEOUT']))
})

test('names wait for their turn, and no longer than their time limit', async () => {
  const { servers } = await startNameServer()
  const find = openNameLookup({ servers, maxConcurrent: 1, limitMs: 500 })
  const silent = ask(find, 'silent.example')
  const waiting = ask(find, 'hooks.example')
  await expect(silent).rejects.toMatchObject({ code: expect.stringMatching(/^E(TIMEOUT|CANCELLED)$/) as string })
  await waiting.catch(() => {}) // its time ended about when the turn of the other did
  expect(await ask(find, 'hooks.example')).toEqual([{ address: ADDRESS, family: 4 }])
})

test('a name that is being looked up is not asked again', async () => {
  const { asked, servers } = await startNameServer()
  const find = openNameLookup({ servers })
  await Promise.all([1, 2, 3].map(() => ask(find, 'hooks.example', 4)))
  expect(asked).toEqual(['hooks.example'])
})

test('literal addresses and names of this machine are not asked', async () => {
  const { asked, servers } = await startNameServer()
  const find = openNameLookup({ servers })
  expect(await ask(find, '8.8.8.8')).toEqual([{ address: '8.8.8.8', family: 4 }])
  expect(await ask(find, '2606:4700::1111')).toEqual([{ address: '2606:4700::1111', family: 6 }])
  expect(await ask(find, 'localhost')).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  expect(asked).toEqual([])
})

test('a name without addresses of the requested family is not found', async () => {
  const { servers } = await startNameServer()
  await expect(ask(openNameLookup({ servers }), 'hooks.example', 6)).rejects.toMatchObject({ code: 'ENODATA' })
})
