import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { CONNECTIONS, ROADS, variantName, type RoadName, type Work } from './roads.ts'

interface Facts {
  measured: Map<string, Figures[]>
  work: Work
  run: string
}

const titles: Record<RoadName, string> = {
  origin: 'bare simulated origin',
  proxy: 'Express 5 + undici, nothing else',
  portkey: 'Portkey 1.15.2, stateless',
  house: 'this gateway, charged and durable',
}

/** The section of the results: speeds, ratios, what a lone call takes longer, where processor time goes, and the targets. */
export function reportRoads({ measured, work, run }: Facts): string {
  const of = (road: RoadName, connections: number) => measured.get(variantName(road, connections))!
  const speeds = CONNECTIONS.flatMap((connections) =>
    ROADS.map((road) => {
      const rounds = of(road, connections)
      const against = (other: RoadName) => (road === 'house' ? times(ratio(rounds, of(other, connections))) : '')
      return [
        `${titles[road]}, ${connections}`,
        ...cells(medianFigures(rounds)),
        against('portkey'),
        against('proxy'),
        against('origin'),
      ]
    }),
  )
  const added = (road: RoadName) => median(of(road, 1).map((round, n) => round.p50Ms - of('origin', 1)[n]!.p50Ms))
  const names = ['road', 'ledger', 'postgres', 'origin']
  const shares = CONNECTIONS.flatMap((connections) =>
    ROADS.map((road) => {
      const one = work.get(variantName(road, connections)) ?? {}
      const all = Object.values(one).reduce((sum, each) => sum + each, 0)
      return [
        `${titles[road]}, ${connections}`,
        ...names.map((name) => (one[name] === undefined ? '' : ms(one[name]))),
        ms(all),
      ]
    }),
  )
  const toPortkey = (connections: number) => ratio(of('house', connections), of('portkey', connections))
  return [
    run,
    table(['road, connections', '/s', 'p50', 'p99', 'to Portkey', 'to proxy', 'to origin'], speeds),
    `A lone call takes longer than at the origin by: ${ROADS.slice(1)
      .map((road) => `${road} ${ms(added(road))}`)
      .join(', ')} (p50).`,
    ...(Object.keys(work.get(variantName('house', 32)) ?? {}).length > 0
      ? [table(['processor time of a call, by process', ...names, 'together'], shares)]
      : []),
    sayTargets([
      { what: 'to Portkey at 32 connections (goal 3)', wanted: 2, found: toPortkey(32), better: 'more', say: times },
      { what: 'to Portkey at 128 connections (goal 6)', wanted: 4, found: toPortkey(128), better: 'more', say: times },
      { what: 'added p50 of a lone call', wanted: 5, found: added('house'), better: 'less', say: ms },
    ]),
  ].join('\n\n')
}
