import { Pool } from 'undici'
import { createInterface } from 'node:readline'
import { percentile, type Figures } from '../load/figures.ts'
import { withFixture } from '../stack/with-fixture.ts'
import type { FlowTenant } from './linear-flow.ts'

interface Line {
  execution: string
  seq: number
  /** Unix milliseconds at which the client had read it. */
  atMs: number
}

export interface Following {
  gatewayUrl: string
  adminUrl: string
  tenant: FlowTenant
  clients: number
  lastsMs: number
}

/**
 * Runs executions whose callers read the lines of progress. Returns the time from the end of a node by the database's
 * clock, which it takes just before the commit, until its line has arrived. Database and callers share this machine's
 * clock.
 */
export async function measureLineDelay({ gatewayUrl, adminUrl, tenant, ...load }: Following): Promise<Figures> {
  const pool = new Pool(gatewayUrl, { connections: load.clients, pipelining: 1 })
  const lines: Line[] = []
  const endMs = performance.now() + load.lastsMs
  const client = async () => {
    while (performance.now() < endMs) lines.push(...(await follow(pool, tenant)))
  }
  const startMs = performance.now()
  await Promise.all(Array.from({ length: load.clients }, client))
  const tookMs = performance.now() - startMs
  await pool.destroy()
  const endedMs = await endsOfNodes(adminUrl, [...new Set(lines.map(({ execution }) => execution))])
  const delays = lines.flatMap(({ execution, seq, atMs }) => {
    const at = endedMs.get(`${execution} ${seq}`)
    return at === undefined ? [] : [atMs - at] // not of a node: the first line and the last
  })
  const ascending = Float64Array.from(delays).toSorted()
  return {
    perSecond: (delays.length * 1000) / tookMs,
    p50Ms: percentile(ascending, 50),
    p99Ms: percentile(ascending, 99),
  }
}

let followed = 0

async function follow(pool: Pool, { sandbox, secret }: FlowTenant): Promise<Line[]> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: `/v1/sandbox/${sandbox}/invoke`,
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'application/x-ndjson',
      'idempotency-key': `lines-${process.pid}-${++followed}`,
    },
    body: '{"input":{"text":"Rivers"}}',
  })
  const lines: Line[] = []
  let execution = ''
  let last = ''
  for await (const text of createInterface({ input: body, crlfDelay: Infinity })) {
    const atMs = performance.timeOrigin + performance.now()
    const line = JSON.parse(text) as { kind: string; seq: number; executionId?: string }
    execution = line.executionId ?? execution
    last = line.kind
    lines.push({ execution, seq: line.seq, atMs })
  }
  if (statusCode !== 200 || last !== 'complete')
    throw new Error(`An execution was answered ${statusCode}, last ${last}`)
  return lines
}

/** Unix milliseconds by `<execution> <seq>`. The input node ends with the start, which no worker takes part in. */
async function endsOfNodes(adminUrl: string, executions: string[]): Promise<Map<string, number>> {
  return withFixture(adminUrl, async (fixture) => {
    const { rows } = await fixture.run(
      `SELECT execution || ' ' || seq AS line, extract(epoch FROM completed_at)::float8 * 1000 AS at
         FROM money.execution_nodes WHERE execution = ANY ($1) AND kind <> 'input' AND seq IS NOT NULL`,
      [executions],
    )
    return new Map((rows as { line: string; at: number }[]).map(({ line, at }) => [line, at]))
  })
}
