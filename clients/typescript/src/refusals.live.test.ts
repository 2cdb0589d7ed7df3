import { expect } from 'vitest'
import { scriptedTest as test, type Step } from '@gateway/api-client/scripted-server'
import { refusalFacts } from '@gateway/api/refusal-facts'
import { refuse, type Refusal, type RefusalCode } from '@gateway/api/refusal'
import { refusals } from '@gateway/api/refusals'
import { ApiRefusal, ExecutionFailed, Gateway } from './gateway.ts'

// Each refusal of the table, created as the services create it and read as a program sees it: as a direct response, as
// the error of an execution, and while following one.

const codes = Object.keys(refusals) as RefusalCode[]
const make = (code: RefusalCode) => refuse(code, refusalFacts(code) as never, { param: 'input', details: { of: code } })
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (failure: unknown) => failure,
  )
/** Without Retry-After, which a test would have to wait for; the tests of the retries cover it. */
const answers =
  ({ status, body, headers: { 'Retry-After': _, ...headers } }: Refusal): Step =>
  (res) =>
    res
      .writeHead(status, {
        'content-type': 'application/json',
        'x-should-retry': 'false',
        'x-request-id': 'req_1',
        ...headers,
      })
      .end(JSON.stringify({ error: body }))
const lines =
  (...some: object[]): Step =>
  (res) =>
    res.end(some.map((line) => `${JSON.stringify(line)}\n`).join(''))

test.for(codes)('%s is typed and has a resolution', async (code, { server }) => {
  const refusal = make(code)
  const gateway = new Gateway({ baseURL: server.url, apiKey: 'svc_1' })
  const { message, resolution, type } = refusal.body
  const reported = { code, message, resolution, type, param: 'input', details: { of: code } }
  expect(resolution).toMatch(/\w.*\.$/)

  server.answers(answers(refusal))
  const refused = await failureOf(gateway.key())
  expect(refused).toBeInstanceOf(ApiRefusal)
  expect(refused).toMatchObject({ ...reported, status: refusals[code].status, requestId: 'req_1' })

  const execution = { id: 'exe_1', status: 'Failed', output: null, error: refusal.body, chargedMicro: 5 }
  server.answers(lines({ kind: 'admitted', seq: 0, executionId: 'exe_1' }, { kind: 'complete', seq: 1, execution }))
  const failed = await failureOf(gateway.flow('sbx-1').run({}))
  expect(failed).toBeInstanceOf(ExecutionFailed)
  expect(failed).toMatchObject({ ...reported, charged: { micro: 5, usd: '0.000005' }, execution: { id: 'exe_1' } })
})
