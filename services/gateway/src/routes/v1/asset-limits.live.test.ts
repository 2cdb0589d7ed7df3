import { once } from 'node:events'
import { get, type IncomingMessage, request } from 'node:http'
import type { AssetValue } from '@gateway/api/execution'
import { expect, onTestFinished } from 'vitest'
import { flowTest, PNG, sameImage } from '../../flow-stack.fixture.ts'
import { errorOf } from '../../stack.fixture.ts'

// One project reads one asset at a time here, and has 25 MB on their way.

const LARGEST = Buffer.concat([PNG, Buffer.alloc(25_000_000 - PNG.length)])

const test = flowTest
  .extend('settings', { scope: 'file' }, () => ({
    gateway: { MAX_CONCURRENT_ASSET_BYTES: '50000000', MAX_CONCURRENT_ASSET_READS_PER_PROJECT: '1' },
  }))
  .extend('otherSecret', async ({ tenant, fixture }) => {
    const project = await fixture.project(tenant.owners, 1_000_000n)
    return (await fixture.key({ project, by: tenant.owners.owner })).secret
  })
  .extend('measured', ({ tenant }) => async (metric: string, value: number) => {
    const line = new RegExp(`^${metric}(\\{[^}]*\\})? ${value}$`, 'm')
    while (!line.test(await (await fetch(`${tenant.metricsUrl}/metrics`)).text()))
      await new Promise((resolve) => setTimeout(resolve, 20))
  })

/** Starts an upload of a declared length and sends nothing of it. */
function startUpload(url: string, secret: string, bytes: number) {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'image/png', 'content-length': bytes }
  const req = request(`${url}/v1/assets`, { method: 'POST', agent: false, headers })
  onTestFinished(() => void req.destroy())
  req.on('error', () => {}).flushHeaders()
  return req
}

async function statusOf(req: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  return res
}

test('an upload beyond half of the bytes on their way is refused unread, and that of another project accepted [overloaded]', async ({
  tenant,
  flows,
  otherSecret,
  measured,
}) => {
  const first = startUpload(tenant.url, tenant.secret, 15_000_000)
  await measured('gateway_assets_transit', 15_000_000)
  const { statusCode, headers } = await statusOf(startUpload(tenant.url, tenant.secret, 15_000_000))
  expect([statusCode, headers['retry-after']]).toEqual([503, '1'])
  expect((await flows.upload(PNG, 'image/png', { authorization: `Bearer ${otherSecret}` })).status).toBe(201)

  first.destroy()
  await measured('gateway_assets_transit', 0)
  expect((await flows.upload(LARGEST, 'image/png')).status).toBe(201)
})

test('an asset is refused to a project that reads as many as it may, until it closes one [overloaded] [unavailable]', async ({
  tenant,
  flows,
  measured,
}) => {
  const { asset } = (await (await flows.upload(LARGEST, 'image/png')).json()) as AssetValue
  const { authorization } = tenant.headers
  const slow = await statusOf(get(`${tenant.url}/v1/assets/${asset}`, { agent: false, headers: { authorization } }))
  const refused = await flows.get(`/v1/assets/${asset}`)
  expect(refused.status).toBe(503)
  expect(await errorOf(refused)).toMatchObject({ code: 'overloaded' })
  const headers = { accept: '*/*' }
  const executed = await flows.invoke(await flows.save(sameImage), { picture: { asset } }, { headers })
  expect(executed.status).toBe(503)
  expect(await errorOf(executed)).toMatchObject({ code: 'unavailable', message: expect.stringContaining('succeeded') })
  slow.on('error', () => {}).destroy()
  await measured('gateway_assets_reads_open', 0)
  expect((await (await flows.get(`/v1/assets/${asset}`)).arrayBuffer()).byteLength).toBe(LARGEST.length)
})
