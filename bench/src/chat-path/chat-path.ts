import { readdir, readFile } from 'node:fs/promises'
import type { Profiler } from 'node:inspector'
import path from 'node:path'
import type { BenchDeps } from '../bench.ts'
import { inTurns } from '../load/rounds.ts'
import { topSelfTimes } from '../profile/top-self-times.ts'
import { describeRun } from '../report/machine.ts'
import { checkCharges } from './check-charges.ts'
import { buildTenant } from './tenant.ts'
import { reportCallPaths } from './report-call-paths.ts'
import { openCallPaths, CONNECTIONS } from './call-paths.ts'
import { profileFolder, startStack } from './start-stack.ts'
import { startPeers } from './start-peers.ts'
import { findWrk } from './wrk.ts'

// A chat call through everything (key, reservation, provider, settlement, all durable) against a direct call, against a
// minimal proxy, and against a gateway without a ledger. All run on the same cores, in turns.

const peersFolder = path.resolve(import.meta.dirname, '../../.peers')

export async function chatPath({ options, stops, log }: BenchDeps): Promise<string> {
  const wrk = await findWrk(path.join(peersFolder, 'wrk'), log)
  log('Starting Postgres, Redis, provider, ledger and gateway')
  const stack = await startStack(stops, options.profile)
  const tenant = await buildTenant(stack.postgres.adminUrl)
  log('Starting the peers')
  const peers = await startPeers({ providerUrl: stack.provider.url, folder: stack.folder, peersFolder, stops, log })
  const callPaths = openCallPaths({ stack, tenant, peers, wrk, lastsMs: options.roundMs })

  log('Warming up')
  const charge = await callPaths.tryEach()
  await inTurns({ rounds: 1, variants: callPaths.variants(CONNECTIONS.slice(1)), log: () => {} })
  const measured = await inTurns({ rounds: options.rounds, variants: callPaths.variants(CONNECTIONS), log })

  log('Checking the books')
  await checkCharges({ postgres: stack.postgres, project: tenant.project.id, answered: callPaths.answered(), charge })
  if (options.profile !== null) {
    const profiled = options.profile === 'ledger' ? stack.ledger : stack.gateway
    await profiled.stop()
    log(`\n${options.profile}: ${topSelfTimes(await readProfile(stack.folder, options.profile))}`)
  }
  return reportCallPaths({ measured, work: callPaths.work(), run: await describeRun(new Date()) })
}

async function readProfile(folder: string, service: string): Promise<Profiler.Profile> {
  const from = profileFolder(folder, service)
  const [name] = await readdir(from)
  if (name === undefined) throw new Error(`${service} left no profile.`)
  return JSON.parse(await readFile(path.join(from, name), 'utf8')) as Profiler.Profile
}
