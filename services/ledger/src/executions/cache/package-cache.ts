import { LRUCache } from 'lru-cache'
import type { FlowPackage } from '@gateway/api/graph'
import { compileContract } from '@gateway/flow/contract'
import { planOf } from '@gateway/flow/plan'
import { WrongRow } from '../../admissions/classify-error.ts'
import type { Deps, PackageCache, PackageName } from '../../deps.ts'
import type { Flow } from './flow.ts'

/** Caches packages by digest, which identifies one forever. Keeps `maxBytes` of JSON text, most recently used first. */
export function openPackageCache(deps: Pick<Deps, 'reads'>, { maxBytes }: { maxBytes: number }): PackageCache {
  const flows = new LRUCache<string, Flow, PackageName>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    fetchMethod: (_name, _old, { context }) => readFlow(deps, context),
    ignoreFetchAbort: true, // a package that is evicted while it is read is still returned
  })
  return {
    get({ sandbox, revision, digest }) {
      return flows.forceFetch(`${sandbox} ${revision} ${digest}`, { context: { sandbox, revision, digest } })
    },
  }
}

async function readFlow({ reads }: Pick<Deps, 'reads'>, { sandbox, revision, digest }: PackageName): Promise<Flow> {
  const [row] = await reads.prisma.$queryRaw<{ package: Uint8Array }[]>`
    SELECT package FROM money.flow_packages
     WHERE sandbox = ${sandbox} AND revision = ${revision}::int AND (digest = ${digest}::text OR ${digest}::text IS NULL)
     ORDER BY built_at NULLS FIRST LIMIT 1`
  if (!row) throw new WrongRow(`revision ${revision} of ${sandbox} has no package ${digest}`)
  const flow = JSON.parse(Buffer.from(row.package).toString()) as FlowPackage
  return {
    plan: planOf(flow),
    package: flow,
    checkInput: compileContract(flow.input),
    outputContract: JSON.stringify(flow.output),
    bytes: row.package.length,
  }
}
