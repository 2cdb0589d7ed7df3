import type { FlowPackage } from '@gateway/contracts/graph'
import type { Database } from '@gateway/database/client'
import { compileContract, type CheckValues } from '@gateway/flow/contract'
import { planOf, type Plan } from '@gateway/flow/plan'

/** What the ledger needs of the package of a revision. */
export interface Flow {
  plan: Plan
  package: FlowPackage
  checkInput: CheckValues
  /** The contract's side of the output, JSON text. */
  outputContract: string
}

export interface Flows {
  /** @throws Error for a revision that has no package */
  of(sandbox: string, revision: number): Promise<Flow>
}

/**
 * The packages of revisions, read once: they never change. Those used longest ago are forgotten beyond `mostBytes` of JSON text.
 */
export function openFlows({ prisma }: Pick<Database, 'prisma'>, { mostBytes }: { mostBytes: number }): Flows {
  const remembered = new Map<string, { flow: Promise<Flow>; bytes: number }>()
  let bytes = 0

  async function read(name: string, sandbox: string, revision: number): Promise<Flow> {
    const [row] = await prisma.$queryRaw<{ package: Uint8Array | null }[]>`
      SELECT package FROM control.revisions WHERE sandbox = ${sandbox} AND number = ${revision}::int`
    if (!row?.package) throw new Error(`revision ${revision} of ${sandbox} has no package`)
    const flow = flowOf(JSON.parse(Buffer.from(row.package).toString()) as FlowPackage)
    weigh(name, row.package.length)
    return flow
  }

  function weigh(name: string, weight: number): void {
    const entry = remembered.get(name)
    if (!entry) return
    entry.bytes = weight
    bytes += weight
    for (const [oldest, { bytes: freed }] of remembered) {
      if (bytes <= mostBytes || oldest === name) break
      remembered.delete(oldest)
      bytes -= freed
    }
  }

  return {
    of(sandbox, revision) {
      const name = `${sandbox} ${revision}`
      const known = remembered.get(name)
      if (known) {
        remembered.delete(name)
        remembered.set(name, known) // used last
        return known.flow
      }
      const entry = { flow: Promise.resolve().then(() => read(name, sandbox, revision)), bytes: 0 }
      remembered.set(name, entry)
      entry.flow.catch(() => {
        if (remembered.get(name) === entry) remembered.delete(name)
      })
      return entry.flow
    },
  }
}

function flowOf(flow: FlowPackage): Flow {
  return {
    plan: planOf(flow),
    package: flow,
    checkInput: compileContract(flow.input),
    outputContract: JSON.stringify(flow.output),
  }
}
