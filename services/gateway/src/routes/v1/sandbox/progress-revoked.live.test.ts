import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { describe, expect } from 'vitest'
import type { ProgressLine, RefusedLine } from '@gateway/api/execution'
import { chain, flowTest, linesOf, newKey, openLines, PROGRESS, recordOf } from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

interface RpcMessage {
  params?: { message: string }
  result?: { isError?: boolean; content: { text: string }[] }
}

// The reader of progress is authorized again, at each poll and once someone has lost access (rules §5.2), so losing
// access ends the stream.

const test = flowTest
  /** Another user who can issue keys for the project, and a key issued by them. */
  .extend('issued', async ({ tenant, fixture }) => {
    const { tenant: organization, team } = tenant.owners
    const by = await fixture.issuer({ id: tenant.project, tenant: organization, team })
    const key = await tenant.key({ by })
    return { by, key, headers: { authorization: `Bearer ${key.secret}`, 'idempotency-key': newKey() } }
  })
  /** Takes access away as the console does: in the tables, and then past the barrier. */
  .extend('lose', ({ stack, fixture, tenant }, { onCleanup }) => {
    const ledger = openLedgerClient({
      url: stack.ledgers[0]!.url,
      service: 'console',
      privateKey: stack.secrets.console,
    })
    onCleanup(() => ledger.close())
    return async (sql: string, by: string) => {
      await fixture.run(sql, [by])
      await ledger.barrier({ projects: [tenant.project] })
    }
  })
  /** A flow of two calls; the first is held until the test releases it. */
  .extend('held', async ({ stack, tenant, flows }) => {
    const prompt = newPrompt()
    const sandbox = await flows.save(chain(tenant.model, 1), { mcpEnabled: true })
    await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
    const { control } = stack.provider
    return { sandbox, prompt, called: () => control.waitForCalls(1, { prompt }), release: () => control.release() }
  })

const losses = [
  ['the key is revoked', 'key_revoked', 'UPDATE control.keys SET revoked_at = now() WHERE created_by = $1'],
  ['the grant of its issuer is removed', 'key_issuer_denied', 'DELETE FROM control.project_grants WHERE user_id = $1'],
  [
    'its issuer becomes a Project Viewer',
    'key_issuer_denied',
    `UPDATE control.project_grants SET role = 'Project Viewer' WHERE user_id = $1`,
  ],
] as const

describe.for(losses)('once %s', ([, code, sql]) => {
  // spec: 5/s7
  test(`the caller who started an execution and the one who joined it get no further line [${code}]`, async ({
    tenant,
    lose,
    flows,
    issued,
    held,
  }) => {
    const follow = () =>
      flows.invoke(held.sandbox, { text: held.prompt }, { headers: { ...issued.headers, ...PROGRESS } })
    const [first, second] = [await follow(), await follow()]
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const readers = [await openLines(first), await openLines(second)]
    for (const reader of readers) await reader.take(2)
    await held.called()
    await lose(sql, issued.by)
    await held.release()
    for (const reader of readers) {
      await reader.end()
      const lines: (ProgressLine | RefusedLine)[] = reader.lines
      expect(lines.map(({ kind }) => kind)).toEqual(['admitted', 'node', 'refused'])
      expect((lines.at(-1) as RefusedLine).error).toMatchObject({ code, resolution: expect.any(String) as string })
    }
    await tenant.settled()
  })

  // spec: 5/s7
  test(`a caller who waits for the record gets the same refusal [${code}]`, async ({
    tenant,
    lose,
    flows,
    issued,
    held,
  }) => {
    const waiting = flows.invoke(held.sandbox, { text: held.prompt }, { headers: issued.headers })
    await held.called()
    await lose(sql, issued.by)
    await held.release()
    const refused = await errorOf(await waiting)
    expect(refused['code']).toBe(code)
    expect(JSON.stringify(refused)).not.toContain(held.prompt)
    expect(await tenant.settled()).toBeGreaterThan(0)
  })

  // spec: 5/s7
  test(`an MCP tool call with progress notifications is refused [${code}]`, async ({ tenant, lose, issued, held }) => {
    const params = { name: 'invoke_product', arguments: { text: held.prompt }, _meta: { progressToken: 'p' } }
    const answer = await fetch(`${tenant.url}/v1/sandbox/${held.sandbox}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...issued.headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    const text = answer.text()
    await held.called()
    await lose(sql, issued.by)
    await held.release()
    const messages = (await text)
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)) as RpcMessage)
    expect(messages.map(({ params }) => params?.message)).toEqual([
      'The execution has begun.',
      'in: Succeeded',
      undefined,
    ])
    const { isError, content } = messages.at(-1)!.result!
    const { error } = JSON.parse(content[0]!.text) as { error: { code: string } }
    expect([isError, error.code]).toEqual([true, code])
    await tenant.settled()
  })
})

test('an execution whose reader loses access keeps running and is charged', async ({
  tenant,
  fixture,
  flows,
  issued,
  held,
}) => {
  const headers = { ...issued.headers, ...PROGRESS }
  const following = await flows.invoke(held.sandbox, { text: held.prompt }, { headers })
  const text = following.text()
  await held.called()
  await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [issued.by])
  expect(linesOf(await text).at(-1)!.kind).toBe('refused')
  await fixture.run(`INSERT INTO control.project_grants (project, user_id, role) VALUES ($1, $2, 'Project Consumer')`, [
    tenant.project,
    issued.by,
  ])
  await held.release()
  const record = await recordOf(await flows.invoke(held.sandbox, { text: held.prompt }, { headers: issued.headers }))
  expect([record.status, record.chargedMicro]).toEqual(['Succeeded', await tenant.settled()])
})

test('a suspended sandbox product refuses new invocations but streams a running execution to its end [revision_not_active]', async ({
  fixture,
  flows,
  issued,
  held,
}) => {
  const headers = { ...issued.headers, ...PROGRESS }
  const following = await flows.invoke(held.sandbox, { text: held.prompt }, { headers })
  const text = following.text()
  await held.called()
  await fixture.run('UPDATE control.sandboxes SET suspended = true WHERE id = $1', [held.sandbox])
  const refused = await flows.invoke(held.sandbox, { text: 'another' }, { headers: { ...PROGRESS } })
  expect([refused.status, (await errorOf(refused))['code']]).toEqual([409, 'revision_not_active'])
  await held.release()
  expect(linesOf(await text).at(-1)).toMatchObject({ kind: 'complete', execution: { status: 'Succeeded' } })
})
