import { LRUCache } from 'lru-cache'
import type { FlowPackage } from '@gateway/contracts/graph'
import { compileContract } from '@gateway/flow/contract'
import { planOf } from '@gateway/flow/plan'
import type { Deps, PackageCache } from '../../deps.ts'
import type { Flow } from './flow.ts'

interface Revision {
  sandbox: string
  number: number
}

/** The packages of revisions, read once: they never change. `maxBytes` of their JSON text are kept, those used last. */
export function openPackageCache(deps: Pick<Deps, 'reads'>, { maxBytes }: { maxBytes: number }): PackageCache {
  const flows = new LRUCache<string, Flow, Revision>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    fetchMethod: (_name, _old, { context }) => readFlow(deps, context),
    ignoreFetchAbort: true, // pushed out while it is read, a package is still answered
  })
  return {
    get: (sandbox, number) => flows.forceFetch(`${sandbox} ${number}`, { context: { sandbox, number } }),
  }
}

async function readFlow({ reads }: Pick<Deps, 'reads'>, { sandbox, number }: Revision): Promise<Flow> {
  const [row] = await reads.prisma.$queryRaw<{ package: Uint8Array | null }[]>`
    SELECT package FROM control.revisions WHERE sandbox = ${sandbox} AND number = ${number}::int`
  if (!row?.package) throw new Error(`revision ${number} of ${sandbox} has no package`)
  const flow = JSON.parse(Buffer.from(row.package).toString()) as FlowPackage
  return {
    plan: planOf(flow),
    package: flow,
    checkInput: compileContract(flow.input),
    outputContract: JSON.stringify(flow.output),
    bytes: row.package.length,
  }
}
