import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { expect } from 'vitest'
import { consoleTest as test, outcomeOf, untilBlocked } from '../console.fixture.ts'

const dollars = (usd: number) => usd * 1_000_000

test('an Admin sets, changes, lists and removes monthly budgets, and the audit says so', async ({ stack }) => {
  const path = `${stack.path}/budgets`
  const tag = { kind: 'tag', subject: 'nightly-summaries', limitMicro: dollars(50), hard: true }
  const { body: made } = await stack.owner.put(path, tag)
  expect(made).toMatchObject({ ...tag, spentMicro: 0, reservedMicro: 0 })
  const raised = { ...tag, limitMicro: dollars(80), hard: false }
  expect((await stack.owner.put(path, raised)).body).toMatchObject({ ...raised, id: made.id })
  await stack.owner.put(path, { ...tag, kind: 'team', subject: stack.team })
  await stack.owner.put(path, { ...tag, kind: 'user', subject: stack.owner.id })
  const { body: listed } = await stack.owner.get(path)
  expect(listed.data.map((budget: typeof tag) => [budget.kind, budget.subject, budget.limitMicro])).toEqual([
    ['user', stack.owner.id, dollars(50)],
    ['team', stack.team, dollars(50)],
    ['tag', 'nightly-summaries', dollars(80)],
  ])
  expect(outcomeOf(await stack.owner.delete(`${path}/${made.id}`))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(`${path}/${made.id}`))).toBe('404 not_found')
  expect((await stack.owner.get(path)).body.data).toHaveLength(2)
  const { body: audit } = await stack.owner.get(`${stack.path}/audit?subject=${made.id}`)
  expect(audit.data.map(({ action }: { action: string }) => action)).toEqual([
    'budget.remove',
    'budget.set',
    'budget.set',
  ])
})

test('a removal whose answer was lost gets its audit row when it is repeated', async ({
  stack,
  ledger,
  services,
  onTestFinished,
}) => {
  const client = openLedgerClient({ url: ledger.url, service: 'console', privateKey: services.secrets.console })
  onTestFinished(() => client.close())
  const budget = { kind: 'tag', subject: 'lost-answer', limitMicro: 1, hard: true }
  const { id } = (await stack.owner.put(`${stack.path}/budgets`, budget)).body
  expect(await client.removeBudget({ id, tenant: stack.tenant })).toEqual({ found: true })
  const removals = async () => {
    const { body } = await stack.owner.get(`${stack.path}/audit?subject=${id}`)
    return body.data.filter(({ action }: { action: string }) => action === 'budget.remove')
  }
  expect(await removals()).toEqual([])
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/budgets/${id}`))).toBe('204')
  const written = [expect.objectContaining({ details: { kind: 'tag', subject: 'lost-answer' } })]
  expect(await removals()).toEqual(written)
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/budgets/${id}`))).toBe('404 not_found')
  expect(await removals()).toEqual(written)
})

test('a budget that was removed long ago stays removed once the audit has forgotten it [not_found]', async ({
  stack,
  fixture,
}) => {
  const budget = { kind: 'tag', subject: 'long-ago', limitMicro: 1, hard: true }
  const { id } = (await stack.owner.put(`${stack.path}/budgets`, budget)).body
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/budgets/${id}`))).toBe('204')
  await fixture.run(`UPDATE money.budgets SET removed_at = now() - interval '401 days' WHERE id = $1`, [id])
  await fixture.run('SET session_replication_role = replica') // as control.forget_audit, past the trigger
  await fixture.run('DELETE FROM control.audit WHERE subject = $1', [id])
  await fixture.run('RESET session_replication_role')
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/budgets/${id}`))).toBe('404 not_found')
  expect((await stack.owner.get(`${stack.path}/audit?subject=${id}`)).body.data).toEqual([])
})

test('two concurrent removals of a budget write one audit row [not_found]', async ({ stack, fixture }) => {
  const budget = { kind: 'tag', subject: 'removed-twice', limitMicro: 1, hard: true }
  const { id } = (await stack.owner.put(`${stack.path}/budgets`, budget)).body
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM money.budgets WHERE id = $1 FOR UPDATE', [id])
  const asked = [1, 2].map(() => stack.owner.delete(`${stack.path}/budgets/${id}`))
  await untilBlocked(fixture, 2)
  await fixture.run('COMMIT')
  expect((await Promise.all(asked)).map(outcomeOf).toSorted()).toEqual(['204', '404 not_found'])
  const { body } = await stack.owner.get(`${stack.path}/audit?subject=${id}`)
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual(['budget.remove', 'budget.set'])
})

test('a budget that is removed right after it was set is in the audit', async ({ stack, fixture, onTestFinished }) => {
  const subject = `removed-${stack.tenant}`
  await fixture.run(`
    CREATE FUNCTION public.remove_new_budget() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE money.budgets SET target = NULL WHERE id = NEW.id; RETURN NULL; END $$;
    CREATE TRIGGER remove_new_budget AFTER INSERT ON money.budgets FOR EACH ROW
      WHEN (NEW.subject = '${subject}') EXECUTE FUNCTION public.remove_new_budget()`)
  onTestFinished(async () => void (await fixture.run('DROP FUNCTION public.remove_new_budget CASCADE')))
  const budget = { kind: 'tag', subject, limitMicro: 1, hard: true }
  const { status, body } = await stack.owner.put(`${stack.path}/budgets`, budget)
  expect([status, body]).toEqual([200, expect.objectContaining(budget)])
  const { body: audit } = await stack.owner.get(`${stack.path}/audit?subject=${body.id}`)
  expect(audit.data.map(({ action }: { action: string }) => action)).toEqual(['budget.set'])
})

test('a budget needs an Admin, and a subject that the organization has [not_permitted]', async ({ stack, signIn }) => {
  const path = `${stack.path}/budgets`
  const budget = { kind: 'tag', subject: 'batch', limitMicro: 1, hard: true }
  const member = await stack.member({ team: 'Team Owner', project: 'Project Owner' })
  expect(outcomeOf(await member.put(path, budget))).toBe('403 not_permitted')
  expect(outcomeOf(await member.get(path))).toBe('403 not_permitted')
  const stranger = await signIn()
  expect(outcomeOf(await stranger.put(path, budget))).toBe('404 not_found')
  for (const wrong of [
    { ...budget, subject: 'two words' },
    { ...budget, subject: '' },
    { ...budget, limitMicro: 0 },
    { ...budget, limitMicro: 1.5 },
    { ...budget, kind: 'project' },
    { ...budget, kind: 'user', subject: stranger.id },
    { ...budget, kind: 'team', subject: 'tea_another' },
  ])
    expect([wrong, outcomeOf(await stack.owner.put(path, wrong))]).toEqual([wrong, '400 invalid_request'])
})

test('the tag of a key is set when it is created, and its replacement keeps it', async ({ stack }) => {
  const body = { project: stack.project, name: 'Nightly', tag: 'nightly-summaries' }
  const { body: made } = await stack.owner.post(`${stack.path}/keys`, body)
  expect(made.key.tag).toBe('nightly-summaries')
  const { body: rotated } = await stack.owner.post(`${stack.path}/keys/${made.key.id}/rotate`, {})
  expect(rotated.key.tag).toBe('nightly-summaries')
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys`, { ...body, tag: 'two words' }))).toBe(
    '400 invalid_request',
  )
})
