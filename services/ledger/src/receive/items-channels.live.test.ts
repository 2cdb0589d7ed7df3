import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import type { LedgerItem } from '@gateway/ledger-protocol/ledger-items'
import type { OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { openRequestSigner } from '@gateway/ledger-client/service-token'
import { startProgram } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { insertNodes, insertExecution, nodeItem } from '../fixtures/execution-rows.ts'
import { openTenant, test as tenantTest } from '../fixtures/ledger-test.ts'
import { ledgerEnvironment, secrets } from '../fixtures/open-ledger.ts'

/**
 * A saved response of 0.9 MB, each byte of which takes six in JSON: all repeats together exceed the maximum length of a
 * string.
 */
const ANSWER = '\u0001'.repeat(900_000)
const REPEATS = 105

/** A separate process, so that its memory can be measured. */
const test = tenantTest.extend('ledger', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const ledger = await startProgram({
    name: 'ledger',
    entry: path.join(import.meta.dirname, '../main.ts'),
    folder: await temporaryFolder('ledger'),
    env: ledgerEnvironment({ database, redis }),
  })
  onCleanup(ledger.stop)
  return ledger
})

describe('POST /items', () => {
  test('routes each item to the admission batcher or the node batcher', async ({ ledger, fixture, replica }) => {
    const tenant = await openTenant(fixture)
    const execution = await insertExecution(fixture, tenant.project.id, { key: tenant.key.id })
    const [node, held] = await insertNodes(fixture, { execution, project: tenant.project.id, count: 2 })
    await replica.admitNode(nodeItem(replica, held!, tenant.product))
    const direct = replica.item(tenant.key, tenant.product)
    const strange = { execution: 'exe_nowhere', node: 'n0', lease: 'ab'.repeat(16) }
    const result = { kind: 'given-back' as const }
    const items: LedgerItem[] = [
      direct,
      nodeItem(replica, node!, tenant.product),
      { op: 'release', id: held!.reservation, reason: 'test' },
      { op: 'claim', ...strange, instance: replica.instance, attempt: 1 },
      { op: 'complete', ...strange, result, usage: null, measured: { durationMs: 1, remoteMs: null } },
    ]
    const answer = await postItems(
      ledger,
      'worker',
      items.map((item, n) => ({ n, budgetMs: 10_000, item })),
    )
    const lines = (await answer.text()).split('\n').filter((line) => line !== '') // an empty line is a keep-alive
    const outcomes = lines.map((line) => JSON.parse(line) as OutcomeLine).toSorted((a, b) => a.n - b.n)
    expect(outcomes.map(({ outcome }) => outcome.kind)).toEqual([
      'admitted',
      'admitted',
      'unknown',
      'nothing-to-do',
      'fenced',
    ])
  })

  test('sends an empty line as a keep-alive while no item is decided', async ({
    ledger,
    fixture,
    replica,
    database,
  }) => {
    const tenant = await openTenant(fixture)
    const keeping = new Client({ connectionString: database.adminUrl })
    await keeping.connect()
    onTestFinished(() => keeping.end())
    await keeping.query('BEGIN')
    await keeping.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const item = replica.item(tenant.key, tenant.product)
    const answer = await postItems(ledger, 'gateway', [{ n: 0, budgetMs: 10_000, item }])
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('\n')
    await keeping.query('ROLLBACK')
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value
    expect(JSON.parse(rest)).toMatchObject({ n: 0, outcome: { kind: 'admitted' } })
  })

  test('replays one large saved response 105 times in one request and stays available', async ({
    ledger,
    fixture,
    replica,
  }) => {
    const tenant = await openTenant(fixture)
    const idempotency = { key: 'a large answer', fingerprint: 'a'.repeat(64) }
    const first = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(first)
    await replica.settle(first.id, undefined, { contentType: 'application/json', body: ANSWER })

    const ask = (n: number) => ({
      n,
      budgetMs: 60_000,
      item: replica.item(tenant.key, tenant.product, { idempotency }),
    })
    const post = (count: number) =>
      postItems(
        ledger,
        'gateway',
        Array.from({ length: count }, (_, n) => ask(n)),
      )
    const lineBytes = JSON.stringify({ n: 1, outcome: { kind: 'replay', body: ANSWER } }).length
    const before = await memoryOf(ledger.pid)
    const { lines, bytes } = await readThrough(await post(REPEATS))
    console.log(`the ledger's memory: ${before} MB at start, ${await memoryOf(ledger.pid)} MB at most`)
    expect(lines).toBe(REPEATS)
    expect(bytes).toBeGreaterThan(REPEATS * lineBytes)

    const one = await (await post(1)).text()
    expect(JSON.parse(one)).toEqual({
      n: 0,
      outcome: { kind: 'replay', invocation: first.id, contentType: 'application/json', body: ANSWER },
    })
  })
})

function postItems({ url }: { url: string }, service: ServiceName, lines: object[]): Promise<Response> {
  const body = lines.map((line) => JSON.stringify(line)).join('\n')
  const token = openRequestSigner({ service, privateKey: secrets[service], now: Date.now }).sign('/items', body)
  return fetch(`${url}/items`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })
}

async function readThrough({ body }: Response): Promise<{ lines: number; bytes: number }> {
  const read = { lines: 0, bytes: 0 }
  for await (const chunk of body!) {
    read.bytes += chunk.length
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) read.lines++
  }
  return read
}

/** Returns the peak memory of a process, in megabytes; null if the system does not report it. */
async function memoryOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]
  return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
}
