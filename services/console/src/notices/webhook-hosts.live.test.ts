import { expect } from 'vitest'
import { startSilentNameServer } from '@gateway/testbed/silent-name-server'
import { consoleTest, outcomeOf } from '../console.fixture.ts'

// Webhooks may lead to the public internet only, and the name server never answers.

/* oxlint-disable no-empty-pattern -- vitest reads the needed fixtures from the pattern */
const test = consoleTest
  .extend('counts', { scope: 'file' }, () => ({ processes: ['ledger-0', 'console-0'] as const }))
  .extend('nameServer', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await startSilentNameServer()
    onCleanup(server.close)
    return server
  })
  .extend('settings', { scope: 'file' }, ({ nameServer: { environment } }) => ({
    ledger: { ...environment, WEBHOOK_PRIVATE_ADDRESSES: 'false' },
    console: environment,
  }))

test('webhooks at hosts whose name servers never answer are refused, and delay no revocation meanwhile [invalid_request]', async ({
  stack,
  fixture,
  nameServer,
}) => {
  const { id } = await fixture.key({
    project: { id: stack.project, tenant: stack.tenant, team: stack.team },
    by: stack.owner.id,
  })
  const asked = nameServer.asked(8) // for two kinds of address each
  const ended: string[] = []
  const attempts = Array.from({ length: 8 }, async (_, n) => {
    const answer = await stack.owner.post(`${stack.projectPath}/webhooks`, { url: `https://silent${n}.example.com/` })
    ended.push(`${outcomeOf(answer)}: ${answer.body.error.message}`)
  })
  await asked
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${id}/revoke`))).toBe('200')
  expect(ended).toEqual([])
  await Promise.all(attempts)
  expect(new Set(ended)).toEqual(new Set([expect.stringContaining('has a host that could not be found.')]))
})

test('a webhook may lead to a public address, and to none of this machine [invalid_request]', async ({ stack }) => {
  const create = (url: string) => stack.owner.post(`${stack.projectPath}/webhooks`, { url })
  expect(outcomeOf(await create('https://8.8.8.8/'))).toBe('201')
  for (const url of ['https://localhost/', 'https://127.0.0.1/', 'http://8.8.8.8/'])
    expect(outcomeOf(await create(url))).toBe('400 invalid_request')
})
