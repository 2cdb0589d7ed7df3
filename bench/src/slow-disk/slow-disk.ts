import { randomUUID } from 'node:crypto'
import { ask } from '@gateway/testbed/ask'
import { controlClient } from '@gateway/simulated-provider/control'
import type { BenchDeps } from '../bench.ts'
import { startPaths, type Path } from '../chat-path/paths.ts'
import { median, percentile } from '../load/figures.ts'
import { openLoop } from '../load/open-loop.ts'
import { bodyOf, openCaller } from '../overhead/call.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'

// What a disk that takes 2 ms costs a lone call. Postgres itself waits before it brings its log to disk (`commit_delay`),
// as if the disk were that slow. A call under an idempotency key waits for the disk at its admission and at its
// settlement, any other one at its settlement only.

const PROVIDER_MS = 60
const DISK_US = 2_000
/** Slow enough that calls are alone. */
const RATE = 12
const SETTLE_MS = 500

const disks = { 'as it is': 0, '2 ms more': DISK_US }
type Disk = keyof typeof disks
const CALLS = ['provider', 'plain', 'keyed'] as const
type Call = (typeof CALLS)[number]

export async function slowDisk({ options: { rounds, roundMs }, stops, log }: BenchDeps): Promise<string> {
  const { stack, paths } = await startPaths({ stops, log, profile: null })
  const caller = openCaller(16)
  stops.add(caller.close)
  await controlClient(stack.provider.url).setFaults([{ latencyMs: PROVIDER_MS }])
  const shape = { stream: false, bytes: 100, maxTokens: 50 }

  async function setDisk(disk: Disk): Promise<void> {
    const { adminUrl } = stack.postgres
    await ask(adminUrl, 'ALTER SYSTEM SET commit_siblings = 0')
    await ask(adminUrl, `ALTER SYSTEM SET commit_delay = ${disks[disk]}`)
    await ask(adminUrl, 'SELECT pg_reload_conf()')
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  }

  /** Median time of a call in milliseconds. */
  async function measure(call: Call, lastsMs: number): Promise<number> {
    const to = call === 'provider' ? paths.provider : paths.stack
    const body = bodyOf(to, shape)
    const called = await openLoop({
      rate: RATE,
      lastsMs,
      call: (dueMs) => caller.call(call === 'keyed' ? withKey(to) : to, body, dueMs),
    })
    return percentile(Float64Array.from(called.map(({ totalMs }) => totalMs)).toSorted(), 50)
  }

  log('Warming up')
  for (const call of CALLS) await measure(call, 4_000)
  const added = new Map<string, number[]>()
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`)
    for (const disk of Object.keys(disks) as Disk[]) {
      await setDisk(disk)
      const alone = await measure('provider', roundMs)
      for (const call of round % 2 === 1 ? (['plain', 'keyed'] as const) : (['keyed', 'plain'] as const)) {
        const name = `${call}, ${disk}`
        added.set(name, [...(added.get(name) ?? []), (await measure(call, roundMs)) - alone])
      }
    }
  }
  const of = (call: Call, disk: Disk) => median(added.get(`${call}, ${disk}`)!)
  const slower = (call: Call) => of(call, '2 ms more') - of(call, 'as it is')
  return `${await describeRun(new Date())}

${table(
  ['a lone call, added to the provider (p50)', 'disk as it is', '2 ms more', 'difference'],
  [
    ['without an idempotency key', ms(of('plain', 'as it is')), ms(of('plain', '2 ms more')), ms(slower('plain'))],
    ['with one', ms(of('keyed', 'as it is')), ms(of('keyed', '2 ms more')), ms(slower('keyed'))],
  ],
)}

${formatTargets([
  {
    what: 'waits of 2 ms in a call without an idempotency key',
    wanted: 1.5,
    found: slower('plain') / (DISK_US / 1_000),
    better: 'less',
    say: times,
  },
])}
`
}

function withKey(to: Path): Path {
  return { ...to, headers: { ...to.headers, 'idempotency-key': randomUUID() } }
}
