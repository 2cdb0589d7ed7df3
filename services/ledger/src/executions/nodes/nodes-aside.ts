import type { CompleteItem } from '@gateway/contracts/flow-items'
import type { Deps } from '../../deps.ts'
import { openAside, type Aside } from '../../set-aside/aside.ts'
import { openKeptItems, type KeepDeps } from '../../set-aside/kept-items.ts'
import { projectsOfExecutions } from '../../set-aside/projects-of.ts'
import type { Remembered } from '../../set-aside/set-aside.ts'
import type { NodeItem, WaitingNode } from './node-item.ts'

interface How {
  tryAlone: (waiting: WaitingNode) => Promise<void>
  drop: (waiting: WaitingNode) => void
}

/** Items of executions that go with no batch, and what they are answered in the meantime (set-aside.ts). */
export function openNodesAside(deps: KeepDeps, { tryAlone, drop }: How): Aside<WaitingNode> {
  const keep = openKeptItems(deps)

  /** A3 of set-aside.ts: workers are answered with an end. Maintenance asks again, and so does who stops an execution. */
  async function answer(waiting: WaitingNode, { givenUp, error }: Remembered): Promise<void> {
    const { item } = waiting
    if (!givenUp || (item.op !== 'claim' && item.op !== 'complete')) drop(waiting)
    else if (item.op === 'claim' || (await keep(withoutNext(item), error))) waiting.answer({ kind: 'set-aside' })
    else drop(waiting)
  }

  return openAside({
    setAside: deps.setAside,
    // A claim that succeeds says nothing about what ends nodes, nor the other way round.
    idOf: ({ item }) => nameAside(item),
    groupsOf: ({ item, project }) => (item.op !== 'complete' || !project ? [] : [`closings ${project}`]),
    tryAlone,
    answer,
  })
}

/** Who asked is answered `set-aside`: nobody is there any more to go on with a node. */
function withoutNext({ next: _, ...item }: CompleteItem): CompleteItem {
  return item
}

export function nameAside({ op, execution }: NodeItem): string {
  return op === 'claim' ? `claim ${execution}` : execution
}

/** Notes the projects of what is to close a reservation. Where that fails they stay unknown. */
export async function identifyCompletions(deps: Pick<Deps, 'reads'>, batch: readonly WaitingNode[]): Promise<void> {
  const unknown = batch.filter(({ item, project }) => item.op === 'complete' && project === undefined)
  if (unknown.length === 0) return
  const ids = unknown.map(({ item }) => item.execution)
  const projects = await projectsOfExecutions(deps, ids).catch(() => null)
  if (projects !== null) for (const waiting of unknown) waiting.project = projects.get(waiting.item.execution) ?? null
}
