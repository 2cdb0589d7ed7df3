import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { sendAsset } from './send-asset.ts'

/** More than the kernel buffers for a connection. */
const BYTES = Buffer.alloc(25_000_000, 7)

/** Serves the bytes at a minimum rate, and gives the response of each reader. */
async function serve(rate: { bytesPerSecond: number; windowMs: number }) {
  const sources: Readable[] = []
  const openForCaller = async () => {
    const source = Readable.from(inPieces())
    sources.push(source)
    return source
  }
  const asset = { id: 'ast_1', project: 'prj_1', mimeType: 'audio/wav', bytes: BYTES.length }
  const server = createServer(
    (req, res) => void sendAsset({ assetStore: { openForCaller } }, req, res, asset, {}, rate),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    sources,
    async read() {
      const [res] = (await once(get({ host: '127.0.0.1', port, agent: false }), 'response')) as [IncomingMessage]
      return res
    },
  }
}

function* inPieces(): Generator<Buffer> {
  for (let at = 0; at < BYTES.length; at += 65_536) yield BYTES.subarray(at, at + 65_536)
}

test('a caller that stops reading loses its connection, and the bytes are closed', async () => {
  const { read, sources } = await serve({ bytesPerSecond: 1, windowMs: 50 })
  const res = await read()
  res.pause()
  await new Promise((resolve) => sources[0]!.once('close', resolve))
  await expect(buffer(res)).rejects.toThrow('aborted')
})

test('a caller that reads gets all of it', async () => {
  const { read } = await serve({ bytesPerSecond: 1, windowMs: 10_000 })
  expect((await buffer(await read())).equals(BYTES)).toBe(true)
})
