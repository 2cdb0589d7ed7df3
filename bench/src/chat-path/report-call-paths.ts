import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { CONNECTIONS, CALL_PATHS, variantName, type CallPathName, type Work } from './call-paths.ts'

interface Facts {
  measured: Map<string, Figures[]>
  work: Work
  run: string
}

const titles: Record<CallPathName, string> = {
  provider: 'bare simulated provider',
  proxy: 'Express 5 + undici, nothing else',
  portkey: 'Portkey 1.15.2, stateless',
  stack: 'this gateway, charged and durable',
}

/** The section of the results: speeds, ratios, what a lone call takes longer, where processor time goes, and the targets. */
export function reportCallPaths({ measured, work, run }: Facts): string {
  const of = (callPath: CallPathName, connections: number) => measured.get(variantName(callPath, connections))!
  const speeds = CONNECTIONS.flatMap((connections) =>
    CALL_PATHS.map((callPath) => {
      const rounds = of(callPath, connections)
      const against = (other: CallPathName) =>
        callPath === 'stack' ? times(ratio(rounds, of(other, connections))) : ''
      return [
        `${titles[callPath]}, ${connections}`,
        ...cells(medianFigures(rounds)),
        against('portkey'),
        against('proxy'),
        against('provider'),
      ]
    }),
  )
  const added = (callPath: CallPathName) =>
    median(of(callPath, 1).map((round, n) => round.p50Ms - of('provider', 1)[n]!.p50Ms))
  const names = ['callPath', 'ledger', 'postgres', 'provider']
  const shares = CONNECTIONS.flatMap((connections) =>
    CALL_PATHS.map((callPath) => {
      const one = work.get(variantName(callPath, connections)) ?? {}
      const all = Object.values(one).reduce((sum, each) => sum + each, 0)
      return [
        `${titles[callPath]}, ${connections}`,
        ...names.map((name) => (one[name] === undefined ? '' : ms(one[name]))),
        ms(all),
      ]
    }),
  )
  const toPortkey = (connections: number) => ratio(of('stack', connections), of('portkey', connections))
  return [
    run,
    table(['path, connections', '/s', 'p50', 'p99', 'to Portkey', 'to proxy', 'to provider'], speeds),
    `A lone call takes longer than at the provider by: ${CALL_PATHS.slice(1)
      .map((callPath) => `${callPath} ${ms(added(callPath))}`)
      .join(', ')} (p50).`,
    ...(Object.keys(work.get(variantName('stack', 32)) ?? {}).length > 0
      ? [table(['processor time of a call, by process', ...names, 'together'], shares)]
      : []),
    sayTargets([
      { what: 'to Portkey at 32 connections (goal 3)', wanted: 2, found: toPortkey(32), better: 'more', say: times },
      { what: 'to Portkey at 128 connections (goal 6)', wanted: 4, found: toPortkey(128), better: 'more', say: times },
      { what: 'added p50 of a lone call', wanted: 5, found: added('stack'), better: 'less', say: ms },
    ]),
  ].join('\n\n')
}
