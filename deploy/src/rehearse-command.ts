// npm run rehearse-compose
// Starts the compose stack with the simulated provider, then kills, stops and restarts each of its services once while a model and
// a flow are called, and runs a burst of executions while workers are added and removed. Prints a table of each. The stack stays up.
// Needs Docker Engine 25 and Compose 2.24. Exit codes: 0 done, 1 a call was lost or charged twice, or the books
// do not balance, or a container does not come back.
import { setTimeout as wait } from 'node:timers/promises'
import { callSteadily, openCaller, compose, containersOf, docker, whenHealthy } from './rehearsal/calls.ts'

const SERVICES = [
  'gateway',
  'worker',
  'ledger',
  'console',
  'postgres',
  'redis',
  'provider',
  'collector',
  'jaeger',
  'prometheus',
  'grafana',
]
const BURST = 2400
const AT_ONCE = 200
const WORKERS = [1, 8, 1]

/** What each row of the first table does to a container. */
const events: Record<string, (container: string) => Promise<string | void>> = {
  killed: kill,
  stopped: async (container) => {
    await docker('stop', container)
    const code = await docker('inspect', '--format', '{{.State.ExitCode}}', container)
    await wait(2000)
    await docker('start', container)
    return `exit ${code}`
  },
  restarted: async (container) => {
    await docker('restart', container)
  },
}

/** As a crash: `docker kill` would count as a stop, after which the engine starts nothing. Another container does it as root. */
async function kill(container: string): Promise<void> {
  const pidOf = async () => Number(await docker('inspect', '--format', '{{.State.Pid}}', container))
  const pid = await pidOf()
  const program = `process.kill(${pid}, 'SIGKILL')`
  await docker(
    'run',
    '--rm',
    '--network=none',
    '--pid=host',
    '--user=0',
    'model-gateway-migrate',
    'node',
    '-e',
    program,
  )
  while ([0, pid].includes(await pidOf())) await wait(100)
}

process.on('uncaughtException', ({ message }) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
})

const say = (line: string) => void process.stdout.write(`${line}\n`)
const row = (...cells: (string | number)[]) => say(`| ${cells.join(' | ')} |`)
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

const begun = Date.now()
await compose('up', '--detach', '--build', '--wait', 'gateway', 'worker', 'console', 'collector', 'grafana', 'provider')
const seed = await compose('run', '--rm', '--no-TTY', 'seed')
const key = /^key (.+)$/m.exec(seed)?.[1] ?? ''
const port = (await compose('port', 'gateway', '8080')).split(':').at(-1)!
const base = `http://127.0.0.1:${port}`
const caller = openCaller(base, key)
const listed = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
const names = ((await listed.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
const models = {
  chat: names.find((name) => !name.startsWith('sbx-'))!,
  flow: names.find((name) => name.startsWith('sbx-'))!,
}
await caller.call(models.chat)
say(`The first call was answered ${seconds(Date.now() - begun)} after the start.\n`)

let lost = 0
row(
  'service',
  'what',
  'healthy again after',
  'calls',
  'answered',
  'lost',
  'slowest chat',
  'slowest flow',
  'seen by callers',
)
row('---', '---', '---:', '---:', '---:', '---:', '---:', '---:', '---')
for (const service of SERVICES)
  for (const [what, happen] of Object.entries(events)) {
    const [container] = await containersOf(service)
    const calls = callSteadily(caller, models)
    const from = Date.now()
    const code = await happen(container!)
    await whenHealthy(container!)
    const healthyMs = Date.now() - from
    await wait(3000)
    const { slowestChatMs, slowestFlowMs, ...seen } = await calls.end()
    lost += seen.lost
    const refusals = [...seen.refusals].map(([refusal, count]) => `${count} × ${refusal}`).join(', ')
    const times = [slowestChatMs, slowestFlowMs].map(seconds)
    row(
      service,
      code ? `${what} (${code})` : what,
      seconds(healthyMs),
      seen.calls,
      seen.answered,
      seen.lost,
      ...times,
      refusals,
    )
  }

say('')
row('workers', 'executions ended', 'time', 'a second')
row('---:', '---:', '---:', '---:')
const burst = callAtOnce(AT_ONCE, BURST)
for (const [n, workers] of WORKERS.entries()) {
  await compose('up', '--detach', '--no-recreate', '--scale', `worker=${workers}`, 'worker')
  const [from, before] = [Date.now(), burst.ended()]
  while (burst.ended() < (BURST * (n + 1)) / WORKERS.length) await wait(100)
  const [ended, ms] = [burst.ended() - before, Date.now() - from]
  row(workers, ended, seconds(ms), Math.round((ended / ms) * 1000))
}
lost += await burst.lost

// The seeded flow has one paid node.
const sql = `SELECT count(*), count(*) FILTER (WHERE status = 'Succeeded'), (SELECT coalesce(max(n), 0) FROM (
  SELECT count(*) AS n FROM money.attempts WHERE execution IS NOT NULL AND charged_micro > 0 GROUP BY execution) paid) FROM money.executions`
const query = `PGPASSWORD=$(cat /run/secrets/owner-password) psql -h 127.0.0.1 -U postgres -d gateway -tAF' ' -c "${sql}"`
const [executions, succeeded, paid] = (await compose('exec', '-T', 'postgres', 'sh', '-c', query)).split(' ')
say(`\n${executions} executions, ${succeeded} succeeded, at most ${paid} paid calls in each`)
say(await compose('exec', '-T', 'ledger', 'node', 'bin/ledger-command', 'check', '--whole'))
process.exitCode = lost === 0 && Number(paid) === 1 ? 0 : 1

/** Executes the flow, some at once. */
function callAtOnce(atOnce: number, executions: number): { ended: () => number; lost: Promise<number> } {
  let [begun, ended, missing] = [0, 0, 0]
  async function one(): Promise<void> {
    while (begun++ < executions) {
      await caller.call(models.flow).catch(() => missing++)
      ended++
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, one))
  return { ended: () => ended, lost: all.then(() => missing) }
}
