import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import { Gateway, type ProgressLine } from '@gateway/client'
import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import { ended, killed } from './src/kills.ts'
import { expectPaidOnce } from './src/paid-once.ts'
import { openPaidTenant } from './src/paid-tenant.ts'

// A program follows executions with our client while its connections are cut and one of each service is killed.

const EXECUTIONS = 50
const MAX_CONCURRENT = 25
const CUTS_EACH = 20
/** About the headers and two lines of a resumed response; only the last line is longer. */
const ANSWERED_BYTES = 1_200
/** Less than any request. */
const ASKED_BYTES = 150

test(`following executions through ${EXECUTIONS * CUTS_EACH} cuts and kills loses no line, repeats none, and charges once`, async ({
  stack,
}) => {
  const tenant = await openPaidTenant(stack, { mostCalls: 8, latencyMs: 20 })
  const followed: ProgressLine[][] = []
  let cuts = 0

  async function follow(n: number): Promise<void> {
    const { hostname, port, href } = new URL(stack.gateways[n % stack.gateways.length]!.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    void cutOften(proxy, () => cuts++)
    const gateway = new Gateway({ baseURL: proxy.through(href), apiKey: tenant.secret })
    const flow = gateway.flow(tenant.sandboxes[4 + (n % 4)]!)
    followed.push(await Array.fromAsync(flow.follow({ text: `run${n}.` })))
    await proxy.close()
  }
  let next = 0
  const callers = Array.from({ length: MAX_CONCURRENT }, async () => {
    for (let n = next++; n < EXECUTIONS; n = next++) await follow(n)
  })
  const victims = [stack.workers[0]!, stack.gateways[0]!, stack.ledgers[0]!]
  for (const [n, victim] of victims.entries()) {
    await ended(followed, Math.floor(((n + 1) * EXECUTIONS) / (victims.length + 2)))
    await killed(victim)
  }
  await Promise.all(callers)
  await stack.untilNothingIsReserved(tenant.project, 30_000)

  expect(cuts).toBe(EXECUTIONS * CUTS_EACH)
  const records = followed.map((lines) => {
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at))
    const last = lines.at(-1)!
    if (last.kind !== 'complete') throw new Error(`ends with ${last.kind}`)
    return last.execution
  })
  expect(records.filter(({ status }) => status !== 'Succeeded')).toEqual([])
  const gateway = new Gateway({ baseURL: stack.gateways[0]!.url, apiKey: tenant.secret })
  for (const [n, { id }] of records.entries()) expect(await Array.fromAsync(gateway.progress(id))).toEqual(followed[n])
  const { rowCount } = await stack.fixture.run('SELECT FROM money.executions WHERE project = $1', [tenant.project])
  expect(rowCount).toBe(EXECUTIONS)
  await expectPaidOnce(stack, tenant.project, records)
  expect(await stack.findings()).toEqual([])
}, 300_000)

/** Repeatedly cuts the connections of a proxy after a random byte of a response or a request. */
async function cutOften(proxy: FaultProxy, count: () => void): Promise<void> {
  for (let n = 0; n < CUTS_EACH; n++) {
    await (randomInt(5) === 0
      ? proxy.cutAfter(randomInt(1, ASKED_BYTES), 'toServer')
      : proxy.cutAfter(randomInt(1, ANSWERED_BYTES), 'toClient'))
    count()
  }
}
