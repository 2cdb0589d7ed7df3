import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import type { Stack, TenantFixture } from './src/stack.ts'
import { paidFlow } from './src/paid-flows.ts'
import { retryingClient, type RetryingClient } from './src/retrying-client.ts'

// Restarts every service under load, one replica at a time, as an upgrade does. Every accepted call is answered and charged once.

const CALLERS = { json: 6, stream: 4, run: 3, user: 2 }
const PAID_NODES = 3
const BETWEEN = 25

test('a rolling restart of every service under load loses no accepted call and charges each once', async ({
  stack,
}) => {
  const tenant = await stack.tenant(100_000_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, PAID_NODES))
  await stack.provider.control.setFaults([{ latencyMs: 100, perChunkMs: 10 }])
  const load = startLoad(stack, tenant, sandbox)

  await load.answered(BETWEEN)
  for (const program of [...stack.gateways, ...stack.ledgers, ...stack.workers, ...stack.consoles]) {
    await program.stop()
    expect(readFileSync(program.logFile, 'utf8')).toContain('"clean":true')
    await load.answered(BETWEEN) // the other replica serves
    await program.start()
    await load.answered(BETWEEN)
  }
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
