import { setTimeout as wait } from 'node:timers/promises'
import type { BenchDeps } from '../bench.ts'
import { median } from '../load/figures.ts'
import { ms, table, times } from '../report/table.ts'
import type { Target } from '../report/targets.ts'
import { type Attack, formatStatuses, startAttack } from './attacker.ts'
import type { Edge } from './edge.ts'
import { openRevocations, repeatFor, revocationTarget } from './revocations.ts'

const TIMES_QUIET = 2
const ESTIMATES = 300
const READERS = 50
const UPLOADS = 500
const ASSET_BYTES = 5_000_000

const text = { type: 'string' }
/** Twenty expressions that each use all of their steps. */
const HEAVY = {
  input: { type: 'object' as const, properties: { text }, required: ['text'] },
  output: { type: 'object' as const, properties: { text }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input' },
    ...Array.from({ length: 20 }, (_, n) => ({
      id: `n${n}`,
      kind: 'expression',
      expression: 'text.split("").exists(c, c == "z") ? text : text',
    })),
    { id: 'out', kind: 'output' },
  ],
  edges: [
    ...Array.from({ length: 20 }, (_, n) => ({ from: 'in.text', to: `n${n}.text` })),
    { from: 'in.text', to: 'out.text' },
  ],
}

/** What one project can ask for without end, and what the calls of another one notice. */
export async function neighbours(edge: Edge, { log, options: { rounds, roundMs } }: BenchDeps) {
  const { stack, fixture, tenant, measureCalls } = edge
  const { url } = stack.gateways[0]!
  const revoke = await openRevocations(url, fixture, tenant)
  const measure = async () => {
    const [calls, revocationsMs] = await Promise.all([measureCalls(roundMs), repeatFor(roundMs, revoke)])
    return { ...calls, revocationsMs }
  }
  const greedy = await fixture.callableTenant({ funds: 1_000_000n })
  const unfunded = await fixture.callableTenant({ funds: 0n })
  const rows: string[][] = []
  const targets: Target[] = []
  async function compare(what: string, attack: Attack): Promise<void> {
    log(what)
    const found: { quiet: number; busy: number }[] = [] // p99 of each round
    let answers = ''
    const revocationsMs: number[] = []
    let longest = 0
    for (let round = 1; round <= rounds; round++) {
      const quiet = await measure()
      const { stop } = await startAttack(attack)
      const busy = await measure()
      answers = formatStatuses(await stop())
      found.push({ quiet: quiet.p99, busy: busy.p99 })
      revocationsMs.push(...busy.revocationsMs)
      longest = Math.max(longest, busy.longest)
      log(`round ${round} of ${rounds}: p99 ${ms(quiet.p99)}, then ${ms(busy.p99)}`)
      await wait(2_000)
    }
    const [quiet, busy] = [median(found.map((one) => one.quiet)), median(found.map((one) => one.busy))]
    const slowest = Math.max(...revocationsMs)
    rows.push([what, ms(quiet), ms(busy), ms(longest), ms(slowest), answers])
    targets.push(
      {
        what: `neighbour's p99 during ${what}, to that of quiet`,
        wanted: TIMES_QUIET,
        found: median(found.map((one) => one.busy / one.quiet)), // within a round: others use the machine too
        better: 'less',
        say: times,
      },
      revocationTarget(`during ${what}`, revocationsMs),
    )
  }

  log('Warming up')
  await measure()
  const { id: sandbox } = await fixture.sandbox(unfunded.project, HEAVY)
  await compare(`${ESTIMATES} estimates of 20 heavy expressions by an unfunded key`, {
    kind: 'clients',
    url,
    clients: ESTIMATES,
    pauseMs: 1_000,
    requests: [
      {
        path: `/v1/sandbox/${sandbox}/estimate`,
        secret: unfunded.key.secret,
        body: JSON.stringify({ input: { text: 'x'.repeat(60_000) } }),
      },
    ],
  })
  const head = (start: string) => `${start} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${greedy.key.secret}\r\n`
  const asset = await upload(url, greedy.key.secret)
  await compare(`${READERS} slow readers of assets of one project`, {
    kind: 'idle',
    url,
    sockets: READERS,
    head: `${head(`GET /v1/assets/${asset}`)}\r\n`,
  })
  await compare(`${UPLOADS} uploads of one project at a byte a minute`, {
    kind: 'idle',
    url,
    sockets: UPLOADS,
    head: `${head('POST /v1/assets')}Content-Type: image/png\r\nContent-Length: ${ASSET_BYTES}\r\n\r\n\x89PNG`,
  })
  return {
    said: table(
      ['one project, against another one', 'quiet p99', 'busy p99', 'longest', 'slowest revocation', 'answers'],
      rows,
    ),
    targets,
  }
}

async function upload(url: string, secret: string): Promise<string> {
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(ASSET_BYTES)])
  const answer = await fetch(`${url}/v1/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'image/png' },
    body: png,
  })
  return ((await answer.json()) as { asset: string }).asset
}
