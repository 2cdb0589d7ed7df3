import { readFileSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { projectFolder } from '@gateway/bundler/bundle-programs'
import { migrate } from '@gateway/database/migrate'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import type { ProcessStack, Stack, TenantFixture } from './src/stack.ts'
import { paidFlow } from './src/paid-flows.ts'
import { retryingClient, type RetryingClient } from './src/retrying-client.ts'

// An upgrade and its rollback under load, one replica at a time, as docs/operating.md says: first the schema grows, then
// old and new services run side by side. Every accepted call is answered and charged once.
//
// `UPGRADE_FROM=<folder>` names the other release: a folder that tools/bundler/src/images-command.ts of its checkout
// wrote. Without it the other release has the same services, and the schema and every function still change: then each
// replica is replaced once, the first of a pair on the way there and the second on the way back.

const CALLERS = { json: 6, stream: 4, run: 3, user: 2 }
const PAID_NODES = 3
const BETWEEN = 15
const { UPGRADE_FROM } = process.env

/** A later release expands the schema: columns in the busiest tables. The release after it may contract it. */
const EXPAND = ['money.wallets', 'money.reservations', 'money.execution_nodes', 'control.keys']

test('an upgrade and its rollback under load lose no accepted call and charge each once', async ({
  stack,
  postgresServer: { adminUrl: url },
  onTestFinished,
}) => {
  const tenant = await stack.tenant(100_000_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, PAID_NODES))
  await stack.provider.control.setFaults([{ latencyMs: 100, perChunkMs: 10 }])
  const schema = await temporaryFolder('upgrade')
  onTestFinished(() => rm(schema, { recursive: true, force: true }))
  const said: string[] = []
  const migrateTo = (folder: string) =>
    migrate({
      url,
      log: (line) => said.push(line),
      folders: { migrations: path.join(folder, 'migrations'), functions: path.join(folder, 'functions') },
    })
  const ours = path.join(projectFolder, 'prisma')
  const other = otherRelease(ours)
  const both = [0, 1]
  const [there, back] = other.entries ? [both, both] : [[0], [1]]
  const load = startLoad(stack, tenant, sandbox)

  await load.answered(BETWEEN)
  await writeNextSchema(
    ours,
    schema,
    EXPAND.map((table) => `ALTER TABLE ${table} ADD COLUMN rehearsed text;`),
  )
  expect(await migrateTo(schema)).toContain('29990101000000_rehearsal')
  await load.answered(BETWEEN)
  // Each pair of services meets as old and new and as new and old, because both ways have the same order.
  await replace(stack, there, other.entries, () => load.answered(BETWEEN))
  await migrateTo(other.schema) // its job reinstalls its functions
  expect(said.join('\n')).toContain('a newer version has used this database')
  await load.answered(BETWEEN)
  await replace(stack, back, null, () => load.answered(BETWEEN))
  await migrateTo(ours)
  await stack.fixture.run(EXPAND.map((table) => `ALTER TABLE ${table} DROP COLUMN rehearsed`).join(';'))
  await load.answered(BETWEEN)
  const { chats, runs, teams, prompts, repeated } = await load.stop()

  // Each call was answered in full.
  expect(chats.filter(({ status }) => status !== 200)).toEqual([])
  expect(chats.filter(({ stream, text }) => stream && !text.trimEnd().endsWith('data: [DONE]'))).toEqual([])
  expect(runs.filter(({ status }) => status !== 'Succeeded')).toEqual([])
  // The retries prove that callers noticed the restarts; the client retries in no other case.
  expect(repeated).toContain('refused connection')

  // Each call was charged once: an accepted but lost call would have been charged together with its retry.
  await stack.untilNothingIsReserved(tenant.project.id, 30_000)
  expect(await stack.findings([tenant.project.id])).toEqual([])
  const charges = (await stack.invocations(tenant.project.id)).filter(({ state }) => state === 'Settled')
  expect(charges.filter(({ execution }) => execution === null)).toHaveLength(chats.length)
  expect(charges.filter(({ execution }) => execution !== null)).toHaveLength(runs.length * PAID_NODES)
  const ofExecutions = runs.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)
  const ofChats = chats.reduce((sum, { micro }) => sum + micro, 0)
  expect((await stack.wallet(tenant.project.id)).settled).toBe(BigInt(ofExecutions + ofChats))

  // Each change by a user was made once.
  const { rows } = await stack.fixture.run('SELECT name FROM control.teams WHERE tenant = $1 AND name LIKE $2', [
    tenant.project.tenant,
    'restart %',
  ])
  expect(rows.map(({ name }: { name: string }) => name).toSorted()).toEqual(teams.toSorted())
  expect(teams.length).toBeGreaterThan(BETWEEN)

  // The provider was called once for each call.
  const asked = (await stack.provider.control.calls()).map(({ prompt }) => prompt)
  expect(prompts.filter((prompt) => asked.filter((one) => one === prompt).length !== 1)).toEqual([])
  expect(await stack.provider.control.countCalls()).toBe(chats.length + runs.length * PAID_NODES)
}, 300_000)

interface Release {
  /** Files of its services; null: those of this checkout. */
  entries: Record<'gateway' | 'worker' | 'ledger' | 'console', string> | null
  /** Folder of its migrations and functions. */
  schema: string
}

function otherRelease(ours: string): Release {
  if (UPGRADE_FROM === undefined) return { entries: null, schema: ours }
  const entry = (name: string) => path.resolve(UPGRADE_FROM, name, 'bin', `${name}.js`)
  return {
    entries: { gateway: entry('gateway'), worker: entry('worker'), ledger: entry('ledger'), console: entry('console') },
    schema: path.resolve(UPGRADE_FROM, 'migrate', 'prisma'),
  }
}

/** Writes a schema with one more migration, in which every function has changed. */
async function writeNextSchema(from: string, to: string, migration: string[]): Promise<void> {
  await cp(path.join(from, 'migrations'), path.join(to, 'migrations'), { recursive: true })
  await mkdir(path.join(to, 'migrations/29990101000000_rehearsal'))
  await writeFile(path.join(to, 'migrations/29990101000000_rehearsal/migration.sql'), `${migration.join('\n')}\n`)
  await cp(path.join(from, 'functions'), path.join(to, 'functions'), { recursive: true })
  for (const file of await readdir(path.join(to, 'functions'), { recursive: true, withFileTypes: true })) {
    const name = path.join(file.parentPath, file.name)
    if (file.name.endsWith('.sql')) await writeFile(name, `${await readFile(name, 'utf8')}\n-- The next release.\n`)
  }
}

/** Replaces these replicas of every service by those of another release, one at a time. */
async function replace(
  { gateways, ledgers, workers, consoles }: ProcessStack,
  numbers: number[],
  entries: Release['entries'],
  servesOn: () => Promise<void>,
): Promise<void> {
  const order = [
    ['gateway', gateways],
    ['ledger', ledgers],
    ['worker', workers],
    ['console', consoles],
  ] as const
  for (const [service, replicas] of order)
    for (const program of numbers.map((n) => replicas[n]!)) {
      const stops = () => readFileSync(program.logFile, 'utf8').split('"clean":true').length
      const before = stops()
      await program.stop()
      expect([program.name, stops()]).toEqual([program.name, before + 1])
      await servesOn() // by the other replica
      program.replaceBy(entries && entries[service])
      await program.start()
      await servesOn()
    }
}

interface AnsweredChat {
  stream: boolean
  status: number
  text: string
  /** Cost by its reported usage. */
  micro: number
}

function startLoad(stack: Stack, tenant: TenantFixture, sandbox: string) {
  const chats: AnsweredChat[] = []
  const runs: ExecutionRecord[] = []
  const teams: string[] = []
  const prompts: string[] = []
  const clients: RetryingClient[] = []
  const waiting = new Set<() => void>()
  let going = true
  let asked = 0

  async function chat(client: RetryingClient, stream: boolean): Promise<void> {
    const prompt = `restart ${asked++}.`
    prompts.push(prompt)
    const { status, text } = await client.ask('/v1/chat/completions', {
      model: tenant.model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: 30,
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    })
    chats.push({ stream, status, text, micro: status === 200 ? microOf(text, stream) : 0 })
  }

  async function run(client: RetryingClient): Promise<void> {
    const key = `restart-run-${asked++}`
    const { status, text } = await client.ask(
      `/v1/sandbox/${sandbox}/invoke`,
      { input: { text: `${key}.` } },
      { 'idempotency-key': key, accept: 'application/json' },
    )
    if (status !== 200) throw new Error(`an execution was answered with ${status}: ${text}`)
    runs.push(JSON.parse(text) as ExecutionRecord)
  }

  async function makeTeam(client: RetryingClient): Promise<void> {
    const name = `restart ${asked++}`
    const { status, text } = await client.ask(`/api/v2/tenants/${tenant.project.tenant}/teams`, { name })
    if (status !== 201) throw new Error(`a user was answered with ${status}: ${text}`)
    teams.push(name)
  }

  function callers(
    count: number,
    work: (client: RetryingClient) => Promise<void>,
    secret: string | Promise<string> = tenant.key.secret,
  ): Promise<void>[] {
    return Array.from({ length: count }, async (_, n) => {
      const client = retryingClient(stack, await secret, n)
      clients.push(client)
      while (going) {
        await work(client)
        for (const look of waiting) look()
      }
    })
  }

  const all = Promise.all([
    ...callers(CALLERS.json, (client) => chat(client, false)),
    ...callers(CALLERS.stream, (client) => chat(client, true)),
    ...callers(CALLERS.run, run),
    ...callers(CALLERS.user, makeTeam, tokenOf(stack, tenant.owner)),
  ])

  return {
    /** Resolves once this many more calls of each kind have been answered; rejects if a caller fails. */
    async answered(count: number): Promise<void> {
      const so = { chats: chats.length + count, runs: runs.length + Math.ceil(count / 10), teams: teams.length + 1 }
      const enough = new Promise<void>((resolve) => {
        const look = () => {
          if (chats.length < so.chats || runs.length < so.runs || teams.length < so.teams) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
      })
      await Promise.race([enough, all])
    },
    async stop() {
      going = false
      await all
      return { chats, runs, teams, prompts, repeated: clients.flatMap(({ repeated }) => repeated) }
    },
  }
}

async function tokenOf({ fixture }: Stack, user: string): Promise<string> {
  return (await fixture.token(user)).secret
}

/** Cost of a response at one micro-USD per prompt or completion token. */
function microOf(text: string, stream: boolean): number {
  const usages = (stream ? text.split('\n\n').filter((event) => event.startsWith('data: {')) : [`data: ${text}`])
    .map((event) => JSON.parse(event.slice('data: '.length)) as { usage?: { total_tokens: number } | null })
    .flatMap(({ usage }) => usage ?? [])
  return usages.at(-1)!.total_tokens
}
