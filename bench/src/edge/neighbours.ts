import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { BenchDeps } from '../bench.ts'
import { percentile } from '../load/figures.ts'
import { ms, table } from '../report/table.ts'
import type { Target } from '../report/targets.ts'
import { openLoop } from '../soak/open-loop.ts'
import type { Edge } from './edge.ts'

const CALLS_PER_SECOND = 50
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
export async function neighbours({ stack, fixture, tenant, chat }: Edge, { log, options: { roundMs } }: BenchDeps) {
  const { url } = stack.gateways[0]!
  const now = () => performance.now()
  const greedy = await fixture.callableTenant({ funds: 1_000_000n })
  const unfunded = await fixture.callableTenant({ funds: 0n })
  const p99 = async () => {
    const call = async () => ({ status: await chat(tenant.key.secret), retryAfter: true })
    const { latenciesMs, ended } = await openLoop({ perSecond: CALLS_PER_SECOND, lastsMs: roundMs, call, now })
    const failed = [...ended.keys()].filter((status) => status !== 200)
    if (failed.length > 0) throw new Error(`The neighbour's calls were answered with ${failed.join()}.`)
    return percentile(latenciesMs, 99)
  }
  const rows: string[][] = []
  const targets: Target[] = []
  async function measure(what: string, begin: () => Promise<() => string>): Promise<void> {
    const quiet = await p99()
    log(what)
    const end = await begin()
    const busy = await p99()
    rows.push([what, ms(quiet), ms(busy), end()])
    targets.push({
      what: `neighbour's p99 during ${what}, to that of quiet`,
      wanted: TIMES_QUIET,
      found: busy / quiet,
      better: 'less',
      say: (value) => `${value.toFixed(2)}×`,
    })
    await wait(2_000)
  }

  log('Warming up')
  await p99()
  await measure(`${ESTIMATES} estimates of 20 heavy expressions by an unfunded key`, async () => {
    const { id } = await fixture.sandbox(unfunded.project, HEAVY)
    const ended = new Map<number, number>()
    let going = true
    const ask = async () => {
      while (going) {
        const answer = await fetch(`${url}/v1/sandbox/${id}/estimate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${unfunded.key.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ input: { text: 'x'.repeat(60_000) } }),
        }).catch(() => null)
        await answer?.text().catch(() => '')
        if (answer) ended.set(answer.status, (ended.get(answer.status) ?? 0) + 1)
        await wait(1_000)
      }
    }
    for (let n = 0; n < ESTIMATES; n++) void ask()
    return () => {
      going = false
      return statusesOf(ended)
    }
  })
  await measure(`${READERS} slow readers of assets of one project`, async () => {
    const asset = await upload(url, greedy.key.secret)
    const head = `GET /v1/assets/${asset} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${greedy.key.secret}\r\n\r\n`
    return idle(url, READERS, () => head)
  })
  await measure(`${UPLOADS} uploads of one project at a byte a minute`, async () => {
    const head = `POST /v1/assets HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${greedy.key.secret}\r\nContent-Type: image/png\r\nContent-Length: ${ASSET_BYTES}\r\n\r\n\x89PNG`
    return idle(url, UPLOADS, () => head)
  })
  return { said: table(['one project, against another one', 'quiet p99', 'busy p99', 'answers'], rows), targets }
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

/** Opens sockets that send a request and then read nothing. */
async function idle(url: string, count: number, request: (n: number) => string): Promise<() => string> {
  const { hostname: host, port } = new URL(url)
  const sockets: Socket[] = []
  for (let n = 0; n < count; n++) {
    const socket = connect({ host, port: Number(port) }).on('error', () => {})
    socket.pause()
    socket.write(request(n), 'latin1')
    sockets.push(socket)
  }
  return () => {
    const answered = sockets.map((socket) => {
      const head = (socket.read() as Buffer | null)?.toString('latin1') ?? ''
      socket.destroy()
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
    })
    return statusesOf(Map.groupBy(answered, (status) => status))
  }
}

function statusesOf(ended: Map<number, number | number[]>): string {
  const count = (value: number | number[]) => (typeof value === 'number' ? value : value.length)
  return [...ended].map(([status, value]) => `${count(value)} × ${status === 0 ? 'open' : status}`).join(', ')
}
