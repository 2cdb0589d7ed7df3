import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { CONNECTIONS, variantName, type Work } from './call-paths.ts'
import { PATHS, titles, type PathName } from './paths.ts'

interface Facts {
  measured: Map<string, Figures[]>
  work: Work
  run: string
}

/**
 * Targets: processor time of a call in gateway, ledger and Postgres relative to the bare proxy, and of the gateway
 * alone relative to the floor; requests relative to Portkey.
 */
const WANTED = { work: { 128: 2.1, 32: 3, 1: 12 }, toFloor: 1.5, toPortkey: { 32: 1.2, 128: 1.9 } }

/**
 * The section of the results: distribution of processor time, throughput, ratios, added latency of a lone call, and the
 * targets.
 */
export function reportCallPaths({ measured, work, run }: Facts): string {
  const of = (callPath: PathName, connections: number) => measured.get(variantName(callPath, connections))!
  const speeds = CONNECTIONS.flatMap((connections) =>
    PATHS.map((callPath) => {
      const rounds = of(callPath, connections)
      const against = (other: PathName) => (callPath === 'stack' ? times(ratio(rounds, of(other, connections))) : '')
      return [
        `${titles[callPath]}, ${connections}`,
        ...cells(medianFigures(rounds)),
        against('portkey'),
        against('proxy'),
        against('provider'),
      ]
    }),
  )
  const added = (callPath: PathName) =>
    median(of(callPath, 1).map((round, n) => round.p50Ms - of('provider', 1)[n]!.p50Ms))
  /** Of our processes, relative to the proxy. */
  const workToProxy = (connections: number): number => {
    const { gateway = NaN, ledger = NaN, postgres = NaN } = work.get(variantName('stack', connections)) ?? {}
    return (gateway + ledger + postgres) / (work.get(variantName('proxy', connections))?.['gateway'] ?? NaN)
  }
  const gatewayWork = (callPath: PathName) => work.get(variantName(callPath, 128))?.['gateway'] ?? NaN
  const names = ['gateway', 'ledger', 'postgres', 'provider']
  const shares = CONNECTIONS.flatMap((connections) =>
    PATHS.map((callPath) => {
      const one = work.get(variantName(callPath, connections)) ?? {}
      const all = Object.values(one).reduce((sum, each) => sum + each, 0)
      return [
        `${titles[callPath]}, ${connections}`,
        ...names.map((name) => (one[name] === undefined ? '' : ms(one[name]))),
        ms(all),
        callPath === 'stack' ? times(workToProxy(connections)) : '',
      ]
    }),
  )
  const hasWork = Object.keys(work.get(variantName('stack', 32)) ?? {}).length > 0
  const toPortkey = (connections: number) => ratio(of('stack', connections), of('portkey', connections))
  return [
    run,
    ...(hasWork ? [table(['processor time of a call, by process', ...names, 'together', 'to proxy'], shares)] : []),
    table(['path, connections', '/s', 'p50', 'p99', 'to Portkey', 'to proxy', 'to provider'], speeds),
    `A lone call takes longer than at the provider by: ${PATHS.slice(1)
      .map((callPath) => `${callPath} ${ms(added(callPath))}`)
      .join(', ')} (p50).`,
    formatTargets([
      ...(hasWork
        ? ([128, 32, 1] as const).map((connections) => ({
            what: `processor time of a call to the proxy's, ${connections} connections`,
            wanted: WANTED.work[connections],
            found: workToProxy(connections),
            better: 'less' as const,
            say: times,
          }))
        : []),
      ...(hasWork
        ? [
            {
              what: "processor time of the gateway for a call to the floor's, 128 connections",
              wanted: WANTED.toFloor,
              found: gatewayWork('stack') / gatewayWork('floor'),
              better: 'less' as const,
              say: times,
            },
          ]
        : []),
      ...([32, 128] as const).map((connections) => ({
        what: `to Portkey at ${connections} connections`,
        wanted: WANTED.toPortkey[connections],
        found: toPortkey(connections),
        better: 'more' as const,
        say: times,
      })),
    ]),
  ].join('\n\n')
}
