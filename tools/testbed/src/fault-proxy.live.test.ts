import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { portOf } from '@gateway/local-stack/stack-ports'
import { expect, test as plainTest } from 'vitest'
import { startFaultProxy } from './fault-proxy.ts'

/** An echo server behind a proxy. */
const test = plainTest
  // oxlint-disable-next-line no-empty-pattern -- vitest wants the pattern
  .extend('echo', async ({}, { onCleanup }) => {
    const server: Server = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => void server.close())
    return { host: '127.0.0.1', port: portOf(server), server }
  })
  .extend('proxy', async ({ echo }, { onCleanup }) => {
    const proxy = await startFaultProxy(echo)
    onCleanup(proxy.close)
    return proxy
  })
  .extend('dial', async ({ proxy }, { onCleanup }) => {
    const open: Socket[] = []
    onCleanup(() => open.forEach((socket) => socket.destroy()))
    return async () => {
      const socket = connect(proxy.port, proxy.host)
      open.push(socket)
      await once(socket, 'connect')
      return socket
    }
  })

test('the proxy passes bytes in order in both directions, and the end of a connection', async ({ dial }) => {
  const socket = await dial()
  const sent = Buffer.alloc(3_000_000, 'abcdefg')
  const received = collect(socket)
  socket.end(sent)
  expect((await received).equals(sent)).toBe(true)
})

test('latency() delays bytes each way and keeps their order', async ({ proxy, dial }) => {
  const socket = await dial()
  proxy.latency(30)
  const startedAt = performance.now()
  socket.end('one')
  expect((await collect(socket)).toString()).toBe('one')
  expect(performance.now() - startedAt).toBeGreaterThan(50) // never early; lateness is not asserted
})

test('down() resets open connections and refuses new ones until up()', async ({ proxy, dial }) => {
  const socket = await dial()
  await talk(socket, 'hello')
  const broken = closed(socket)
  await proxy.down()
  await broken
  await expect(dial()).rejects.toThrow('ECONNREFUSED')
  await proxy.up()
  expect(await talk(await dial(), 'again')).toBe('again')
})

test('reset() causes ECONNRESET, and new connections work', async ({ proxy, dial }) => {
  const socket = await dial()
  await talk(socket, 'hello')
  const failed = once(socket, 'error') as Promise<unknown>
  const reason = failed.catch((error: Error) => [error])
  proxy.reset()
  expect(await reason).toMatchObject([{ code: 'ECONNRESET' }])
  expect(await talk(await dial(), 'again')).toBe('again')
})

test('cutAfter() lets exactly this many bytes through', async ({ proxy, dial }) => {
  const socket = await dial()
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  const broken = closed(socket)
  const cut = proxy.cutAfter(5, 'toServer')
  proxy.heal() // a cancelled cut has no effect
  await talk(socket, 'all of it')
  void cut
  const again = proxy.cutAfter(5, 'toClient')
  socket.write('0123456789')
  await again
  await broken
  expect(Buffer.concat(received).toString().slice('all of it'.length)).toSatisfy((text: string) =>
    '01234'.startsWith(text),
  )
})

test('stall() holds bytes back without closing, and heal() releases them', async ({ proxy, dial }) => {
  const socket = await dial()
  const caught = proxy.stall('toClient')
  const answer = once(socket, 'data')
  socket.write('held')
  await caught
  expect(proxy.connections).toBe(1)
  expect(socket.bytesRead).toBe(0)
  proxy.heal()
  expect(String((await answer)[0])).toBe('held')
})

test('fallSilent() passes neither bytes nor closes of open connections, and new ones work', async ({
  proxy,
  dial,
  echo,
}) => {
  const socket = await dial()
  await talk(socket, 'hello')
  proxy.fallSilent()
  socket.write('no one hears this')
  expect(await talk(await dial(), 'again')).toBe('again')
  expect(proxy.connections).toBe(2)
  const gone = closed(socket)
  socket.destroy()
  await gone
  proxy.heal()
  expect(socket.bytesRead).toBe('hello'.length)
  expect(await openAt(echo)).toBe(2) // it never saw the close of the silent one
})

test('fallSilent() can silence new connections too, until heal()', async ({ proxy, dial }) => {
  proxy.fallSilent({ newConnections: 'silent' })
  const socket = await dial()
  socket.write('no one hears this')
  proxy.heal()
  expect(await talk(await dial(), 'again')).toBe('again')
  expect(socket.bytesRead).toBe(0)
})

test('through() replaces the address of a URL by that of the proxy', ({ proxy }) => {
  expect(proxy.through('postgresql://a:b@db.example:5432/svc')).toBe(`postgresql://a:b@127.0.0.1:${proxy.port}/svc`)
  expect(proxy.through('http://ledger.example')).toBe(`http://127.0.0.1:${proxy.port}/`)
})

async function talk(socket: Socket, text: string): Promise<string> {
  const answer = once(socket, 'data')
  socket.write(text)
  return String((await answer)[0])
}

function openAt({ server }: { server: Server }): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

/** Resolves when the connection is closed, with or without an error. */
function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  return new Promise((resolve) => socket.on('close', () => resolve()))
}

async function collect(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'end')
  return Buffer.concat(chunks)
}
