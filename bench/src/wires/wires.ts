import path from 'node:path'
import type { BenchDeps } from '../bench.ts'
import { startStack } from '../chat-path/start-stack.ts'
import { buildTenant } from '../chat-path/tenant.ts'
import { findWrk } from '../chat-path/wrk.ts'
import { median, medianFigures } from '../load/figures.ts'
import { inTurns, type Variant } from '../load/rounds.ts'
import { describeRun } from '../report/machine.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { processorTimeMs } from '../stack/processor-time.ts'

// The same call on each wire, whole and as a stream: what the translation at the edge costs the gateway in processor time.

const CONNECTIONS = 32
const WARM_UP_MS = 3_000
const WANTED_RATIO = 1.15
const peersFolder = path.resolve(import.meta.dirname, '../../.peers')
const PROMPT = 'Tell me in a few words why the sky is blue at noon and red in the evening, as to a child of ten.'

const WIRES = [
  {
    wire: 'chat',
    path: '/v1/chat/completions',
    fields: { messages: [{ role: 'user', content: PROMPT }], max_tokens: 50 },
  },
  { wire: 'messages', path: '/v1/messages', fields: { messages: [{ role: 'user', content: PROMPT }], max_tokens: 50 } },
  { wire: 'responses', path: '/v1/responses', fields: { input: PROMPT, max_output_tokens: 50 } },
]
const KINDS = [false, true].flatMap((stream) =>
  WIRES.map((wire) => ({ ...wire, stream, name: nameOf(wire.wire, stream) })),
)

function nameOf(wire: string, stream: boolean): string {
  return `${wire}, ${stream ? 'streamed' : 'whole'}`
}

export async function wires({ options, stops, log }: BenchDeps): Promise<string> {
  const wrk = await findWrk(path.join(peersFolder, 'wrk'), log)
  log('Starting Postgres, Redis, provider, ledger and gateway')
  const stack = await startStack(stops, options.profile)
  const tenant = await buildTenant(stack.postgres.adminUrl)
  /** Processor time of the gateway per call, in milliseconds, by round. */
  const work = new Map<string, number[]>(KINDS.map(({ name }) => [name, []]))

  const variants = KINDS.map(({ name, path: route, fields, stream }): Variant => {
    const load = {
      url: `${stack.gateway.url}${route}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant.key.secret}` },
      body: JSON.stringify({ model: tenant.model, ...fields, stream }),
      connections: CONNECTIONS,
    }
    return {
      name,
      warmUp: () => wrk({ ...load, lastsMs: WARM_UP_MS }),
      async measure() {
        const before = processorTimeMs(stack.gateway.pid) ?? NaN
        const sample = await wrk({ ...load, lastsMs: options.roundMs })
        work.get(name)!.push(((processorTimeMs(stack.gateway.pid) ?? NaN) - before) / sample.calls)
        return sample
      },
    }
  })
  const measured = await inTurns({ rounds: options.rounds, variants, log })

  /** Median over the rounds, each within itself. */
  const toChat = (wire: string, stream: boolean) => {
    const chat = work.get(nameOf('chat', stream))!
    return median(work.get(nameOf(wire, stream))!.map((each, round) => each / chat[round]!))
  }
  return [
    await describeRun(new Date()),
    table(
      ['wire', 'gateway per call', 'to chat', '/s', 'p50', 'p99'],
      KINDS.map(({ name, wire, stream }) => [
        name,
        ms(median(work.get(name)!)),
        times(toChat(wire, stream)),
        ...cells(medianFigures(measured.get(name)!)),
      ]),
    ),
    formatTargets(
      KINDS.filter(({ wire }) => wire !== 'chat').map(({ name, wire, stream }) => ({
        what: `processor time of the gateway to the same chat call, ${name}`,
        wanted: WANTED_RATIO,
        found: toChat(wire, stream),
        better: 'less',
        say: times,
      })),
    ),
  ].join('\n\n')
}
