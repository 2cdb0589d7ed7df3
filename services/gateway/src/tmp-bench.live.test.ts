import { Pool } from 'undici'
import { startConstellation } from '@gateway/testbed/constellation'
import { liveTest as test } from '@gateway/testbed/live-test'
import { openWorld } from '@gateway/testbed/world'
test('bench', async ({ database, redis }) => {
  const house = await startConstellation({ ledgerUrl: database.ledgerUrl, redisUrl: redis.url, environment: { gateway: { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=/tmp/prof' } } })
  const world = await openWorld(database.adminUrl)
  const o = await world.tenant(); const project = await world.project(o, 1_000_000_000n); const model = await world.product(); await world.assign(project.id, model)
  const key = await world.key({ project, by: o.owner })
  const pool = new Pool(house.gateways[0]!.url, { connections: 256 })
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello there' }], max_tokens: 16 })
  const run = async (c: number, ms: number, b = body) => {
    const until = performance.now() + ms; let n = 0
    await Promise.all(Array.from({ length: c }, async () => {
      while (performance.now() < until) {
        const a = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' }, body: b })
        await a.body.text(); n++
      }
    }))
    console.log(c, 'rps', Math.round(n / ms * 1000))
  }
  await run(32, 1500); await run(64, 6000)
  const s = (await import('node:fs')).readFileSync(`/proc/${house.gateways[0]!.pid}/stat`, 'utf8').split(' '); const l = (await import('node:fs')).readFileSync(`/proc/${house.ledgers[0]!.pid}/stat`, 'utf8').split(' ')
  console.log('gateway cpu', (Number(s[13]) + Number(s[14])) / 100, 'ledger cpu', (Number(l[13]) + Number(l[14])) / 100, 'self', process.cpuUsage().user / 1e6)
  await house.stop(); await world.close()
})
