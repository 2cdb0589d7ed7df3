import { createServer } from 'node:net'
import type { AddressInfo, LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { openProviders } from './open-providers.ts'
import { readProviders } from './provider-config.ts'
import { shares } from './providers.fixture.ts'

type Found = { address: string; family: number }[]

const namesLeadTo =
  (found: Found): LookupFunction =>
  (_name, _options, answer) =>
    answer(null, found)

test('never connects to a provider whose name resolves to a private address', async () => {
  let connected = 0
  const server = createServer(() => connected++).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const config = readProviders(
    JSON.stringify({ rebound: { kind: 'openai-compatible', baseUrl: `https://provider.example:${port}/v1` } }),
    {},
  )
  const providers = openProviders(config, { ...shares, resolve: namesLeadTo([{ address: '127.0.0.1', family: 4 }]) })
  const call = providers.chat({
    routes: [{ provider: 'rebound', model: 'm' }],
    project: 'prj_1',
    forwarded: '{"messages":[{"role":"user","content":"x"}]}',
    outputCap: 1,
    stream: false,
  })
  await expect(call).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('private address') })
  expect(connected).toBe(0)
  await providers.close()
  server.close()
})
