import { chunkShape, completionShape, refusalAnswer } from '@gateway/api/answer-shapes'
import { keyStatus } from '@gateway/api/key-status'
import { modelEntry, modelList } from '@gateway/api/model-entry'
import { openApiDocument } from '@gateway/api/openapi-document'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { eventsOf, stackTest as test } from '../stack.fixture.ts'

const get = (url: string, headers = {}) => fetch(url, { headers })

describe('the documentation site', () => {
  test('serves the OpenAPI document that the contracts define', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/openapi.json`)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await answer.json()).toEqual(openApiDocument())
  })

  test('loads every part of the API page from the gateway itself', async ({ tenant }) => {
    const page = await get(`${tenant.url}/docs/api`)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    const html = await page.text()
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part!)
    expect(parts.every((part) => part.startsWith('/'))).toBe(true)
    for (const part of parts) {
      const answer = await get(tenant.url + part)
      expect([part, answer.status, (await answer.arrayBuffer()).byteLength > 100]).toEqual([part, 200, true])
    }
  })

  test('compresses files and returns 304 for a matching ETag', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/docs/swagger-ui.css`)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    await answer.body?.cancel()
    // Not with `fetch`, which adds `cache-control: no-cache` to a conditional request.
    const again = await request(`${tenant.url}/docs/swagger-ui.css`, {
      headers: { 'if-none-match': answer.headers.get('etag')! },
    })
    expect(again.statusCode).toBe(304)
    await again.body.dump()
  })

  test('serves the guides with a policy that allows styles only from the gateway and no unsafe source', async ({
    tenant,
  }) => {
    for (const path of ['/docs', '/docs/', '/docs/flows']) {
      const page = await get(tenant.url + path)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const policy = page.headers.get('content-security-policy')
      expect(policy).toContain("style-src 'self'; require-trusted-types-for 'script'")
      expect(policy).not.toContain('unsafe')
    }
    const markdown = await get(`${tenant.url}/docs/flows.md`)
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(await markdown.text()).toMatch(/^# /)
  })

  test('serves every image that its pages reference', async ({ tenant }) => {
    const page = await (await get(`${tenant.url}/docs/console`)).text()
    const shown = [...page.matchAll(/<img src="([^"]+)"/g)].map(([, address]) => address!)
    expect(shown.length).toBeGreaterThan(0)
    for (const address of shown) {
      const { status, headers } = await get(`${tenant.url}/docs/${address}`)
      expect([address, status, headers.get('Content-Type')]).toEqual([address, 200, 'image/png'])
    }
  })

  test('returns an HTML 404 page to a browser', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/docs/none`, { accept: 'text/html,*/*;q=0.8' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await answer.text()).toContain('href="/docs/refusals"')
  })

  test.for(['main.ts', '..%2Fapi-docs.ts', '__proto__', 'index.html%00'])(
    'returns 404 for /docs/%s [not_found]',
    async (name, { tenant }) => {
      const answer = await get(`${tenant.url}/docs/${name}`)
      expect(answer.status).toBe(404)
      expect(refusalAnswer.parse(await answer.json()).error.code).toBe('not_found')
    },
  )
})

describe('responses match their published schemas', () => {
  test('a completion', async ({ tenant }) => {
    completionShape.parse(await (await tenant.chat()).json())
  })

  test('the chunks of a stream', async ({ tenant }) => {
    const answer = await tenant.chat({ stream: true, stream_options: { include_usage: true } })
    const { chunks, done } = eventsOf(await answer.text())
    expect(done).toBe(true)
    expect(chunks.length).toBeGreaterThan(1)
    for (const chunk of chunks) chunkShape.parse(chunk)
  })

  test('the list of models, one model, and the key', async ({ tenant }) => {
    const read = async (path: string) => (await get(tenant.url + path, tenant.headers)).json()
    modelList.parse(await read('/v1/models'))
    modelEntry.parse(await read(`/v1/models/${tenant.model}`))
    keyStatus.parse(await read('/v1/key'))
  })

  test('a refusal', async ({ tenant }) => {
    refusalAnswer.parse(await (await tenant.chat({ model: 'none/none' })).json())
  })
})
