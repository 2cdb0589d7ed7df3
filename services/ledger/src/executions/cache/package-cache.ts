import { LRUCache } from 'lru-cache'
import type { FlowPackage } from '@gateway/contracts/graph'
import { compileContract, type CheckValues } from '@gateway/flow/contract'
import { planOf, type Plan } from '@gateway/flow/plan'
import type { Deps } from '../../deps.ts'

/** What the ledger needs of the package of a revision. */
export interface Flow {
  plan: Plan
  package: FlowPackage
  checkInput: CheckValues
  /** The contract's side of the output, JSON text. */
  outputContract: string
  /** Of the package's JSON text. */
  bytes: number
}

export interface PackageCache {
  /** @throws Error for a revision that has no package */
  get(sandbox: string, revision: number): Promise<Flow>
}

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
