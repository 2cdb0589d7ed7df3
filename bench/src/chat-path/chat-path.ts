import { readdir, readFile } from 'node:fs/promises'
import type { Profiler } from 'node:inspector'
import path from 'node:path'
import type { BenchNeeds } from '../benches.ts'
import { inTurns } from '../load/rounds.ts'
import { topSelfTimes } from '../profile/top-self-times.ts'
import { describeRun } from '../report/machine.ts'
import { checkCharges } from './check-charges.ts'
import { buildShop } from './shop.ts'
import { reportRoads } from './report-roads.ts'
import { openRoads, CONNECTIONS } from './roads.ts'
import { profileFolder, startHouse } from './start-house.ts'
import { startPeers } from './start-peers.ts'
import { findWrk } from './wrk.ts'

// A chat call through everything: key, reservation, origin, settlement, all durable, against nothing in between, against the
// least that can be in between, and against a gateway that keeps no books. Everything runs on the same cores, in turns.

const peersFolder = path.resolve(import.meta.dirname, '../../.peers')

export async function chatPath({ options, stops, tell }: BenchNeeds): Promise<string> {
  const wrk = await findWrk(path.join(peersFolder, 'wrk'), tell)
  tell('Starting Postgres, Redis, origin, ledger and gateway')
  const house = await startHouse(stops, options.profile)
  const shop = await buildShop(house.postgres.adminUrl)
  tell('Starting the peers')
  const peers = await startPeers({ originUrl: house.origin.url, folder: house.folder, peersFolder, stops, tell })
  const roads = openRoads({ house, shop, peers, wrk, lastsMs: options.roundMs })

  tell('Warming up')
  const charge = await roads.tryEach()
  await inTurns({ rounds: 1, variants: roads.variants(CONNECTIONS.slice(1)), tell: () => {} })
  const measured = await inTurns({ rounds: options.rounds, variants: roads.variants(CONNECTIONS), tell })

  tell('Checking the books')
  await checkCharges({ postgres: house.postgres, project: shop.project, answered: roads.answered(), charge })
  if (options.profile !== null) {
    const profiled = options.profile === 'ledger' ? house.ledger : house.gateway
    await profiled.stop()
    tell(`\n${options.profile}: ${topSelfTimes(await readProfile(house.folder, options.profile))}`)
  }
  return reportRoads({ measured, work: roads.work(), run: await describeRun(new Date()) })
}

async function readProfile(folder: string, service: string): Promise<Profiler.Profile> {
  const from = profileFolder(folder, service)
  const [name] = await readdir(from)
  if (name === undefined) throw new Error(`${service} left no profile.`)
  return JSON.parse(await readFile(path.join(from, name), 'utf8')) as Profiler.Profile
}
