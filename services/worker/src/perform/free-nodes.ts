import type { Values } from '@gateway/api/execution'
import type { ContractSide, GraphNode } from '@gateway/api/graph'
import { CelExhausted } from '@gateway/flow/cel'
import { type FreeNodeResult, runFreeNode } from '@gateway/flow/run-free-node'
import { openWorkerThread } from '@gateway/service-kit/async/worker-thread'

// Free nodes cost their project nothing, so their expressions must not delay what others paid for.
//   N1  A node that needs few steps runs at once: nearly all do.
//   N2  One that needs more starts again in a thread, so that it delays neither leases nor other nodes.

export interface FreeNode {
  node: GraphNode
  inputs: Values
  contract: ContractSide | null
}

export interface FreeNodes {
  /** @throws Error if the thread fails */
  run(work: FreeNode): Promise<FreeNodeResult>
  close(): Promise<void>
}

/** At most two milliseconds. */
const INLINE_STEPS = 20_000
/** More than a thousand nodes that take all their steps. */
const LIMIT_MS = 60_000
const MAX_MEGABYTES = 256

export function openFreeNodes({ onTrouble }: { onTrouble: (reason: unknown) => void }): FreeNodes {
  const program = new URL('./free-node-thread-main.ts', import.meta.url)
  const thread = openWorkerThread<FreeNode, FreeNodeResult>({
    program,
    limitMs: LIMIT_MS,
    maxMegabytes: MAX_MEGABYTES,
    onTrouble,
  })
  return {
    async run(work) {
      try {
        return runFreeNode(work.node, work.inputs, work.contract, INLINE_STEPS) // N1
      } catch (error) {
        if (!(error instanceof CelExhausted)) throw error
      }
      const result = await thread.ask(work) // N2
      if (result === null) throw new Error('the thread of free nodes gave no result')
      return result
    },
    close: () => thread.close(),
  }
}
