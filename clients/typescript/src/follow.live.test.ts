import { describe, expect } from 'vitest'
import { cut, cutAfter, json, refusal, scriptedTest as test, type Step } from '@gateway/api-client/scripted-server'
import { ApiRefusal, ExecutionFailed, Gateway } from './gateway.ts'

// The client against a server that imitates failures of networks and replicas during an execution.

const open = ({ url }: { url: string }) => new Gateway({ baseURL: url, apiKey: 'svc_1' })
const record = (more: object = {}) => ({ id: 'exe_1', output: { text: 'é' }, error: null, chargedMicro: 930, ...more })
const error = {
  code: 'node_failed',
  type: 'api_error',
  param: 'nodes.0',
  message: 'It failed.',
  resolution: 'Mend it.',
}
const complete = (more: object = {}) => ({ kind: 'complete', seq: 3, execution: record(more) })
const all = [
  { kind: 'admitted', seq: 0, executionId: 'exe_1' },
  { kind: 'node', seq: 1 },
  { kind: 'node', seq: 2 },
  complete(),
]
const text = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
const lines =
  (...some: object[]): Step =>
  (res) =>
    res.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-request-id': 'req_9' }).end(text(...some))
const cutLines = (whole: object[], rest = '') => cutAfter(text(...whole) + rest, 'application/x-ndjson')
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (failure: unknown) => failure,
  )
const input = { text: 'é' }

describe('following an execution', () => {
  test('restarts under the same key before the first line, with a new key per execution', async ({ server }) => {
    server.answers(cut, refusal('unavailable', 503), cutLines([], '{"kind":"adm'), lines(...all), lines(...all))
    expect(await Array.fromAsync(open(server).flow('sbx-1').follow(input, { maxMicro: 500 }))).toEqual(all)
    await Array.fromAsync(open(server).flow('sbx-1').follow(input))
    const sent = server.requests.map(({ method, url, headers, body }) => [
      method,
      url,
      headers['idempotency-key'],
      body,
    ])
    const [first, , , , other] = sent
    expect(first).toEqual([
      'POST',
      '/v1/sandbox/sbx-1/invoke',
      expect.stringMatching(/^.{32}$/),
      '{"input":{"text":"é"},"maxMicro":500}',
    ])
    expect(sent.slice(0, 4)).toEqual([first, first, first, first])
    expect(other![2]).not.toBe(first![2])
  })

  test('resumes after the last complete line', async ({ server }) => {
    server.answers(
      cutLines(all.slice(0, 2), '{"kind":"node","seq":2'),
      cutLines([], ''),
      lines(all[2]!),
      lines(all[3]!),
    )
    expect(await Array.fromAsync(open(server).flow('sbx-1').follow(input))).toEqual(all)
    const [, ...others] = server.requests.map(({ method, url }) => `${method} ${url}`)
    const behind = (seq: number) => `GET /v1/executions/exe_1/progress?after=${seq}`
    expect(others).toEqual([behind(1), behind(1), behind(2)])
  })

  test('skips repeated lines and fills gaps', async ({ server }) => {
    server.answers(lines(...all.slice(0, 2)), lines(all[1]!, all[3]!), lines(...all))
    expect(await Array.fromAsync(open(server).flow('sbx-1').follow(input))).toEqual(all)
  })

  test.for(['idempotency_in_progress', 'unavailable', 'overloaded', 'internal_error'])(
    'continues if a replica ends the response with %s',
    async (code, { server }) => {
      server.answers(lines(all[0]!, { kind: 'refused', error: { ...error, code } }), lines(...all.slice(1)))
      expect(await Array.fromAsync(open(server).flow('sbx-1').follow(input))).toEqual(all)
    },
  )

  test('works for an execution that another caller started', async ({ server }) => {
    server.answers(lines(all[2]!), lines(all[3]!))
    expect(await Array.fromAsync(open(server).progress('exe_1', { after: 1 }))).toEqual(all.slice(2))
  })

  test('ends at once for a caller who already has the last line', async ({ server }) => {
    const after: Step = (res, req) => {
      const last = Number(new URL(req.url!, server.url).searchParams.get('after'))
      lines(...all.filter(({ seq }) => seq > last))(res, req)
    }
    server.answers(after, after)
    expect(await Array.fromAsync(open(server).progress('exe_1', { after: 3 }))).toEqual([])
    expect(server.requests).toHaveLength(1)
  })
})

describe('following ends', () => {
  test('with a refusal that the caller has to clear, before or within the lines [key_limit, key_revoked]', async ({
    server,
  }) => {
    server.answers(
      refusal('key_limit', 403),
      lines(all[0]!, { kind: 'refused', error: { ...error, code: 'key_revoked', type: 'authentication_error' } }),
    )
    const seen: unknown[] = []
    const follow = async () => {
      for await (const line of open(server).flow('sbx-1').follow(input)) seen.push(line)
    }
    expect(await failureOf(follow())).toMatchObject({
      code: 'key_limit',
      requestId: 'req_1',
      resolution: 'Do something.',
    })
    const revoked = await failureOf(follow())
    expect(revoked).toBeInstanceOf(ApiRefusal)
    expect(revoked).toMatchObject({
      code: 'key_revoked',
      status: 401,
      message: 'It failed.',
      resolution: 'Mend it.',
      requestId: 'req_9',
    })
    expect([seen, server.requests.length]).toEqual([[all[0]], 2])
  })

  test('when its reader leaves the loop, and with the reason of an aborted signal', async ({ server }) => {
    const closed = Promise.withResolvers<void>()
    const pending: Step = (res) => res.on('close', closed.resolve).writeHead(200).write(text(all[0]!))
    server.answers(pending, pending)
    for await (const { kind } of open(server).flow('sbx-1').follow(input)) {
      expect(kind).toBe('admitted')
      break
    }
    await closed.promise

    const leaving = new AbortController()
    const gone = new Error('enough')
    const follow = async () => {
      for await (const _ of open(server).flow('sbx-1').follow(input, { signal: leaving.signal })) leaving.abort(gone)
    }
    expect(await failureOf(follow())).toBe(gone)
    expect(server.requests).toHaveLength(2)
  })
})

describe('run()', () => {
  test('returns the output and the exact charge', async ({ server }) => {
    server.answers(cutLines(all.slice(0, 1)), lines(...all.slice(1)))
    const { output, charged, id } = await open(server).flow<{ text: string }, { text: string }>('sbx-1').run(input)
    expect([id, output.text, charged]).toEqual(['exe_1', 'é', { micro: 930, usd: '0.00093' }])
  })

  test('throws the error of a failed execution with its charge [node_failed]', async ({ server }) => {
    server.answers(lines(all[0]!, all[1]!, all[2]!, complete({ status: 'Failed', output: null, error })))
    const failure = await failureOf(open(server).flow('sbx-1').run(input))
    expect(failure).toBeInstanceOf(ExecutionFailed)
    expect(failure).toMatchObject({
      name: 'ExecutionFailed',
      ...error,
      details: {},
      charged: { micro: 930, usd: '0.00093' },
      execution: { id: 'exe_1', status: 'Failed' },
    })
  })

  test.for<[string, Step[], string | null]>([
    ['before its first line', [], null],
    ['after its first line', [lines(all[0]!)], 'exe_1'],
  ])(
    'throws, like follow(), an error %s that names its key, under which a second run gets the result',
    async ([, before, id], { server }) => {
      const page: Step = (res) => res.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
      const flow = open(server).flow('sbx-1')
      const [run, follow] = [() => flow.run(input), () => Array.fromAsync(flow.follow(input))]
      for (const [failing, ask] of [
        [page, run],
        [page, follow],
        [refusal('key_limit', 403), run],
        [refusal('key_limit', 403), follow],
      ] as const) {
        server.answers(...before, failing, lines(...all))
        const failure = await failureOf(ask())
        const { headers } = server.requests.at(-1 - before.length)!
        const idempotencyKey = headers['idempotency-key'] as string
        expect(failure).toMatchObject({ idempotencyKey, execution: id })
        expect(await flow.run(input, { idempotencyKey })).toMatchObject({ id: 'exe_1' })
      }
    },
  )

  test('uses the idempotency key that it gets', async ({ server }) => {
    server.answers(lines(...all))
    await open(server).flow('sbx-1').run(input, { idempotencyKey: 'key-of-mine' })
    expect(server.requests[0]!.headers['idempotency-key']).toBe('key-of-mine')
  })
})

describe('the client retries', () => {
  test.for<[string, (gateway: Gateway) => Promise<unknown>, string]>([
    ['an estimate', (gateway) => gateway.flow('sbx-1').estimate(input), 'POST /v1/sandbox/sbx-1/estimate'],
    ['a cancel', (gateway) => gateway.flow('sbx-1').cancel('exe_1'), 'POST /v1/sandbox/sbx-1/executions/exe_1/cancel'],
    ['a check', (gateway) => gateway.check({ model: 'acme/swift' }), 'POST /v1/key/check'],
    ['a read of a record', (gateway) => gateway.execution('exe_1'), 'GET /v1/executions/exe_1'],
    ['a download of an asset', (gateway) => gateway.assets.download('ast_1'), 'GET /v1/assets/ast_1'],
  ])('%s', async ([, ask, request], { server }) => {
    server.answers(cut, json({}))
    await ask(open(server))
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([request, request])
  })
})

test('an upload is not retried, and has the content type of its bytes', async ({ server }) => {
  server.answers(cut, json({ asset: 'ast_1' }, 201))
  const upload = () => open(server).assets.upload(new Blob(['hi'], { type: 'image/png' }))
  expect(await failureOf(upload())).toMatchObject({ name: 'Unreachable' })
  expect(await upload()).toEqual({ asset: 'ast_1' })
  expect(server.requests.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
    ['image/png', 'hi'],
    ['image/png', 'hi'],
  ])
  const nameless = open(server).assets.upload(new Uint8Array(2))
  expect(await failureOf(nameless)).toEqual(
    new TypeError('Set contentType, such as image/png: these bytes have no type.'),
  )
})
