import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { refuse, type RefusalBody, type RefusalCode } from '@gateway/api/refusal'
import { refusals } from '@gateway/api/refusals'
import { usd } from '@gateway/pricing/usd'
import { callerAt, refusalIn } from './src/caller.ts'
import { paidFlow } from './src/paid-flows.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'
import type { Stack } from './src/stack.ts'

// The charge and the resolution that a failed execution reports (rules §2.9), for each stored code on each surface.

/** Wording reserved for the response to a direct call. */
const OF_A_DIRECT_CALL = /nothing (is|was) (charged|reserved)|retry-after|repeat the (same )?request|GET \/v1\/models/i

/** Facts that satisfy any refusal row. */
const anyFacts = new Proxy(
  {},
  { get: (_, name) => (['fields', 'problems', 'resources', 'nodes'].includes(String(name)) ? [] : '7') },
)
const stored = (code: RefusalCode): RefusalBody => refuse(code, anyFacts as never).body

type ToolResult = Pick<RefusalBody, 'code' | 'message' | 'resolution'>

interface Failure {
  id: string
  chargedMicro: number
  /** Instruction for running it again. */
  again: RegExp
  /** Its error on each surface. */
  read: () => Promise<Record<string, ToolResult | null | undefined>>
}

test('the error of a charged execution names the execution and its charge, for every code on every surface', async ({
  stack,
}) => {
  const failures = await failedExecutions(stack)
  const codes = Object.keys(refusals) as RefusalCode[]
  for (const code of codes)
    for (const { id, chargedMicro, again, read } of failures) {
      const error = Buffer.from(JSON.stringify(stored(code)))
      await stack.fixture.run('UPDATE money.executions SET error = $2 WHERE id = $1', [id, error])
      await stack.fixture.run(`UPDATE money.execution_nodes SET error = $2 WHERE execution = $1 AND state = 'Failed'`, [
        id,
        error,
      ])
      for (const [surface, shown] of Object.entries(await read())) {
        const where = `${code}, ${surface}`
        expect([where, shown?.code]).toEqual([where, code])
        const charge = surface.endsWith('node') ? 'was not charged' : `${id} was charged ${usd(chargedMicro)}`
        const words = `${shown!.message} ${shown!.resolution}`
        expect([where, words.includes(charge), again.test(words), OF_A_DIRECT_CALL.exec(words)]).toEqual([
          where,
          true,
          true,
          null,
        ])
      }
    }
})

test('every call of a failed execution can be looked up', async ({ stack }) => {
  const { tenant, invoke, token } = await failing(stack)
  const record = (await invoke({ accept: 'application/json' })).body as ExecutionRecord
  expect(record.childCalls).toHaveLength(3)
  const users = callerAt(stack.gateways[0]!.url, token)
  const { tenant: organization, id: project } = tenant.project
  for (const { callId, status } of record.nodes.filter(({ callId }) => callId !== null)) {
    const path = `/api/v2/tenants/${organization}/projects/${project}/invocations/${callId}`
    const state = status === 'Failed' ? 'Released' : 'Settled'
    expect((await users.ask('GET', path)).body).toMatchObject({ id: callId, execution: record.id, state })
  }
})

/** An execution from each entry point, charged for two calls and failed at the third. */
async function failedExecutions(stack: Stack): Promise<Failure[]> {
  const { sandbox, prompt, tenant, token, invoke, tool, chatWith } = await failing(stack)
  const { url } = stack.gateways[0]!
  const [caller, users] = [callerAt(url, tenant.key.secret), callerAt(url, token)]
  const organization = `/api/v2/tenants/${tenant.project.tenant}`
  const nodeOf = (record: ExecutionRecord) => record.nodes.find(({ status }) => status === 'Failed')?.error
  const recordAt = async (path: string, by = caller) => (await by.ask('GET', path)).body as ExecutionRecord

  const invoked = (await invoke({ accept: 'application/json' })).body as ExecutionRecord
  const chatted = refusalIn(await chatWith(false))!.details as { execution: string; chargedMicro: number }
  const execute = `${organization}/sandboxes/${sandbox}/execute`
  const executed = (await users.ask('POST', execute, { input: { text: prompt } })).body as ExecutionRecord
  for (const { chargedMicro } of [invoked, chatted, executed]) expect(chargedMicro).toBeGreaterThan(0)

  return [
    {
      ...invoked,
      again: /with a new Idempotency-Key.*keeps returning/,
      async read() {
        const [json, lines] = [(await invoke({ accept: 'application/json' })).body as ExecutionRecord, await progress()]
        const last = lines.at(-1) as Extract<ProgressLine, { kind: 'complete' }>
        const node = lines.at(-2) as Extract<ProgressLine, { kind: 'node' }>
        return {
          'the record': (await recordAt(`/v1/executions/${invoked.id}`)).error,
          'JSON of a repeat': json.error,
          'JSON of a repeat, its node': nodeOf(json),
          'the last line': last.execution.error,
          'the line of a node': node.node.error,
          'the tool': await tool(),
          'the tool with progress': await tool({ progressToken: 'p' }),
        }
      },
    },
    {
      id: chatted.execution,
      chargedMicro: chatted.chargedMicro,
      again: /new Idempotency-Key if it had one.*keeps returning/,
      async read() {
        return {
          'a chat': refusalIn(await chatWith(false)),
          'the record of a chat': (await recordAt(`/v1/executions/${chatted.execution}`)).error,
        }
      },
    },
    {
      ...executed,
      again: /un it again/,
      async read() {
        const list = await users.ask('GET', `${organization}/sandboxes/${sandbox}/executions`)
        const row = (list.body as { data: ExecutionRecord[] }).data.find(({ id }) => id === executed.id)
        const path = `${organization}/projects/${tenant.project.id}/executions/${executed.id}`
        return { 'the console': (await recordAt(path, users)).error, 'the list of the console': row?.error }
      },
    },
  ]

  async function progress(): Promise<ProgressLine[]> {
    const { text } = await invoke({ accept: 'application/x-ndjson' })
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ProgressLine)
  }
}

/** A flow of three calls whose last one fails, and each way to call it; repeats of one way return the same execution. */
async function failing(stack: Stack) {
  const tenant = await stack.tenant(10_000_000n)
  const [prompt, ofInvoke, ofChat] = [randomUUID(), randomUUID(), randomUUID()]
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, 3), { mcpEnabled: true })
  await stack.provider.control.setFaults([{ prompt: `call2 ${prompt}`, status: 400 }])
  const { secret: token } = await stack.fixture.token(tenant.owner)
  const caller = callerAt(stack.gateways[0]!.url, tenant.key.secret)
  const input = { text: prompt }
  return {
    tenant,
    prompt,
    sandbox,
    token,
    invoke: (headers: Record<string, string>) =>
      caller.ask('POST', `/v1/sandbox/${sandbox}/invoke`, { input }, { 'idempotency-key': ofInvoke, ...headers }),
    chatWith: (stream: boolean) => {
      const messages = [{ role: 'user', content: prompt }]
      return caller.ask(
        'POST',
        '/v1/chat/completions',
        { model: sandbox, messages, stream },
        { 'idempotency-key': ofChat },
      )
    },
    /** The error in the tool result. */
    async tool(meta?: object): Promise<ToolResult> {
      const params = { name: 'invoke_product', arguments: input, ...(meta && { _meta: meta }) }
      const headers = { 'idempotency-key': ofInvoke, accept: 'application/json, text/event-stream' }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const { text } = await caller.ask('POST', `/v1/sandbox/${sandbox}/mcp`, message, headers)
      const data = text.split('\n').findLast((line) => line.startsWith('data: '))!
      const { result } = JSON.parse(data.slice('data: '.length)) as {
        result: { isError: boolean; content: { text: string }[] }
      }
      expect(result.isError).toBe(true)
      return (JSON.parse(result.content[0]!.text) as { error: ToolResult }).error
    },
  }
}
