import { expect } from 'vitest'
import { bodyOf, errorOf, newPrompt, stackTest as test } from '../stack.fixture.ts'

/** The last back-off of a closing is two minutes (quarantine.ts of the ledger); after a few tries, seconds. */
const SOON = { timeout: 150_000, interval: 100 }

test('a call that cannot be settled gets its response, is quarantined, and is charged once the wallet row is corrected [unavailable]', async ({
  tenant,
  stack,
  fixture,
}) => {
  const { control } = stack.provider
  const content = newPrompt()
  await control.setFaults([{ prompt: content, hold: true }])
  const calls = Array.from({ length: 3 }, () => tenant.chat({ messages: [{ role: 'user', content }] }))
  await control.waitForCalls(3, { prompt: content })
  const { reserved } = await tenant.wallet()
  await fixture.run('UPDATE money.wallets SET reserved = 0 WHERE project = $1', [tenant.project])
  await control.release()
  const answers = await Promise.all(calls)
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  let reportedMicro = 0 // before anything is on record
  for (const answer of answers) reportedMicro += (await bodyOf(answer)).usage.cost_micro
  const metrics = async () => (await fetch(`${tenant.metricsUrl}/metrics`)).text()
  await expect.poll(metrics, SOON).toMatch(/^gateway_reservations_closed_total\{outcome="quarantined".*\} 3\b/m)

  const refused = await tenant.chat()
  expect(refused.status).toBe(503)
  expect(await errorOf(refused)).toMatchObject({ code: 'unavailable' })

  await fixture.run('UPDATE money.wallets SET reserved = $2 WHERE project = $1', [tenant.project, reserved])
  await expect.poll(tenant.wallet, SOON).toMatchObject({ reserved: 0 })
  expect(reportedMicro).toBeGreaterThan(0)
  expect((await tenant.wallet()).settled).toBe(reportedMicro)
  expect((await tenant.chat()).status).toBe(200)
}, 180_000)
