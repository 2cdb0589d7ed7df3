import { describe, expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'
import { echo } from '../sandboxes/graphs.fixture.ts'

describe('the quotas of a project', () => {
  test('are the defaults until an operator sets others, and null returns to them [not_permitted]', async ({
    stack,
    signIn,
  }) => {
    const operator = await signIn({ platformOperator: true })
    const path = `${stack.projectPath}/quotas`
    const limitOf = async () => {
      const { body } = await stack.owner.get(path)
      return body.quotas.find((one: { quota: string }) => one.quota === 'keys')
    }
    const before = await limitOf()
    expect(before).toMatchObject({ limit: 1_000, isDefault: true })
    expect(outcomeOf(await stack.owner.patch(path, { keys: 5_000 }))).toBe('403 not_permitted')
    for (const body of [{ keys: -1 }, { keys: 1.5 }, { files: 5 }])
      expect(outcomeOf(await operator.patch(path, body))).toBe('400 invalid_request')
    await operator.patch(path, { keys: 7, flows: 3 })
    expect(await limitOf()).toEqual({ quota: 'keys', used: before.used, limit: 7, isDefault: false })
    await operator.patch(path, { keys: null })
    expect(await limitOf()).toEqual(before)
    const { body } = await stack.owner.get(`${stack.path}/audit?action=project.quotas`)
    expect(body.data.map(({ details }: { details: unknown }) => details)).toEqual([
      { before: { keys: 7, flows: 3 }, after: { flows: 3 } },
      { before: {}, after: { keys: 7, flows: 3 } },
    ])
  })

  test.for([
    ['keys', 'keys', (project: string) => ({ name: 'K', project, policy: 'all-eligible', expiresInDays: 1 })],
    ['tokens', 'project tokens', () => ({ name: 'T', permissions: ['projects.read'] })],
    ['flows', 'sandbox products', () => ({ name: 'F' })],
    ['webhooks', 'alert destinations', () => ({ url: 'http://127.0.0.1:9/hooks' })],
  ] as const)(
    'limit its %s exactly, however many are made at once [quota_reached]',
    async ([quota, , body], { stack, signIn }) => {
      const operator = await signIn({ platformOperator: true })
      const quotas = `${stack.projectPath}/quotas`
      const path = {
        keys: `${stack.path}/keys`,
        tokens: `${stack.projectPath}/tokens`,
        flows: `${stack.projectPath}/sandboxes`,
        webhooks: `${stack.projectPath}/webhooks`,
      }
      const used = (await operator.get(quotas)).body.quotas.find((one: { quota: string }) => one.quota === quota).used
      await operator.patch(quotas, { [quota]: used + 2 })
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => stack.owner.post(path[quota], body(stack.project))),
      )
      expect(answers.map(outcomeOf).toSorted()).toEqual(['201', '201', ...Array(4).fill('403 quota_reached')])
      expect(answers.find(({ status }) => status === 403)!.body.error.details).toEqual({
        quota,
        limit: used + 2,
        used: used + 2,
      })
    },
  )

  test('limit the revisions of all its sandbox products together, and a metric counts each refusal [quota_reached]', async ({
    stack,
    signIn,
    console,
  }) => {
    const refusals = async () => {
      const text = await (await fetch(`${console.metricsUrl}/metrics`)).text()
      return Number(/^console_refusals_total\{code="quota_reached"[^\n]* (\d+)/m.exec(text)?.[1] ?? 0)
    }
    const before = await refusals()
    const operator = await signIn({ platformOperator: true })
    const flows = []
    for (const name of ['one', 'two'])
      flows.push((await stack.owner.post(`${stack.projectPath}/sandboxes`, { name })).body.id)
    await operator.patch(`${stack.projectPath}/quotas`, { revisions: 2 })
    const save = (flow: string) =>
      stack.owner.post(`${stack.path}/sandboxes/${flow}/revisions`, { graph: echo, draft: true })
    expect(outcomeOf(await save(flows[0]))).toBe('201')
    expect(outcomeOf(await save(flows[1]))).toBe('201')
    expect(outcomeOf(await save(flows[0]))).toBe('403 quota_reached')
    expect(await refusals()).toBe(before + 1)
  })
})
