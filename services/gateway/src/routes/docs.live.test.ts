import { chunkShape, completionShape, refusalAnswer } from '@gateway/api/answer-shapes'
import { keyStatus } from '@gateway/api/key-status'
import { modelEntry, modelList } from '@gateway/api/model-entry'
import { openApiDocument } from '@gateway/api/openapi-document'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { eventsOf, stackTest as test } from '../stack.fixture.ts'

const get = (url: string, headers = {}) => fetch(url, { headers })

describe('the description of the API', () => {
  test('is what the contracts say', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/openapi.json`)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await answer.json()).toEqual(openApiDocument())
  })

  test('is a page whose parts all come from here', async ({ tenant }) => {
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

  test('is sent once, and packed', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/docs/swagger-ui.css`)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    await answer.body?.cancel()
    // Not by `fetch`, which asks for a fresh one whenever it asks itself.
    const again = await request(`${tenant.url}/docs/swagger-ui.css`, {
      headers: { 'if-none-match': answer.headers.get('etag')! },
    })
    expect(again.statusCode).toBe(304)
    await again.body.dump()
  })

  test('is alongside guides, whose policy lets them run and style nothing but files of the service', async ({
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

  test('has the pictures that its pages show', async ({ tenant }) => {
    const page = await (await get(`${tenant.url}/docs/console`)).text()
    const shown = [...page.matchAll(/<img src="([^"]+)"/g)].map(([, address]) => address!)
    expect(shown.length).toBeGreaterThan(0)
    for (const address of shown) {
      const { status, headers } = await get(`${tenant.url}/docs/${address}`)
      expect([address, status, headers.get('Content-Type')]).toEqual([address, 200, 'image/png'])
    }
  })

  test('answers a page to a browser that asks for one that is not there', async ({ tenant }) => {
    const answer = await get(`${tenant.url}/docs/none`, { accept: 'text/html,*/*;q=0.8' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await answer.text()).toContain('href="/docs/refusals"')
  })

  test.for(['main.ts', '..%2Fapi-docs.ts', '__proto__', 'index.html%00'])(
    'has no part %s [not_found]',
    async (name, { tenant }) => {
      const answer = await get(`${tenant.url}/docs/${name}`)
      expect(answer.status).toBe(404)
      expect(refusalAnswer.parse(await answer.json()).error.code).toBe('not_found')
    },
  )
})

describe('real answers are as they are described', () => {
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

  test('models, one of them, and the key', async ({ tenant }) => {
    const read = async (path: string) => (await get(tenant.url + path, tenant.headers)).json()
    modelList.parse(await read('/v1/models'))
    modelEntry.parse(await read(`/v1/models/${tenant.model}`))
    keyStatus.parse(await read('/v1/key'))
  })

  test('a refusal', async ({ tenant }) => {
    refusalAnswer.parse(await (await tenant.chat({ model: 'none/none' })).json())
  })
})
