import { once } from 'node:events'
import { startStack } from '../chat-path/start-stack.ts'
import { buildTenant } from '../chat-path/tenant.ts'
import { openStops } from '../stack/stops.ts'

// The stack of the bench `chat-path` of this checkout, for the bench `turns` of another one. Prints how to call it, as a
// `Path` in a line of JSON, and stops when its standard input closes. Into a checkout without this file, copy it.

const stops = openStops()
try {
  const { gateway, ledger, postgres, provider } = await startStack(stops, null)
  const { key, model } = await buildTenant(postgres.adminUrl)
  const pids = { gateway: gateway.pid, ledger: ledger.pid, postgres: postgres.pid, provider: provider.pid }
  const headers = { authorization: `Bearer ${key.secret}` }
  process.stdout.write(`${JSON.stringify({ url: gateway.url, headers, model, pids })}\n`)
  await once(process.stdin.resume(), 'end')
} finally {
  await stops.run()
}
