import type { Values } from '@gateway/api/execution'
import { advance, type NodeState } from '../advance.ts'
import type { Plan, PlanNode } from '../plan.ts'
import { knownValue, type BoundedValue } from './bounded-value.ts'
import type { BoundedInputs } from './call-bound.ts'
import type { Calls } from './calls.ts'
import type { Outcome } from './node-outcomes.ts'

/** Maximum number of paths; beyond it, both sides of every branch count. */
const MOST_PATHS = 1_024

interface Path {
  states: NodeState[]
  outcomes: (Outcome | null)[]
  micro: bigint
}

/**
 * Returns the micro-USD of the max-cost path of an execution. Unknown values are tried in every way; known ones take
 * one. Returns null if there are too many paths.
 */
export function* boundOfMaxCostPath(plan: Plan, input: Values, calls: Calls): Generator<void, bigint | null> {
  const open: Path[] = [beginning(plan, input)]
  let maxMicro = 0n
  let paths = 1
  for (let path = open.pop(); path; path = open.pop()) {
    const forks = yield* follow(plan, path, calls)
    if (forks === null) {
      if (path.micro > maxMicro) maxMicro = path.micro
      continue
    }
    paths += forks.length - 1
    if (paths > MOST_PATHS) return null
    open.push(...forks)
  }
  return maxMicro
}

/** Follows a path until it ends (returns null) or splits (returns the continuations). */
function* follow(plan: Plan, path: Path, calls: Calls): Generator<void, Path[] | null> {
  const parting: { ordinal: number; outcomes: Outcome[] }[] = []
  for (;;) {
    const { ready, skipped } = advance(plan, path.states)
    for (const ordinal of skipped) path.states[ordinal] = { state: 'Skipped', ports: [] }
    if (ready.length === 0) break
    for (const ordinal of ready) {
      const node = plan.nodes[ordinal]!
      const { outcomes, micro } = calls.perform(node, inputsOf(node, path.outcomes))
      path.micro += micro
      if (outcomes.length === 1) end(path, ordinal, outcomes[0]!)
      else {
        path.states[ordinal] = { state: 'Running', ports: [] }
        parting.push({ ordinal, outcomes })
      }
      yield
    }
  }
  return parting.length === 0 ? null : waysOn(path, parting)
}

/** Splits by one node at a time, because the outcome of the first can skip the next. */
function waysOn(path: Path, parting: { ordinal: number; outcomes: Outcome[] }[]): Path[] {
  return parting.reduce<Path[]>(
    (paths, { ordinal, outcomes }) =>
      paths.length > MOST_PATHS
        ? paths
        : paths.flatMap((before) =>
            outcomes.map((outcome) => {
              const after = { ...before, states: [...before.states], outcomes: [...before.outcomes] }
              end(after, ordinal, outcome)
              return after
            }),
          ),
    [path],
  )
}

function beginning(plan: Plan, input: Values): Path {
  const path: Path = {
    states: plan.nodes.map(() => ({ state: 'Pending', ports: [] })),
    outcomes: plan.nodes.map(() => null),
    micro: 0n,
  }
  end(path, plan.input, inputOutcome(input))
  return path
}

export function inputOutcome(input: Values): Outcome {
  return new Map(Object.entries(input).map(([port, value]) => [port, knownValue(value)]))
}

function end(path: Path, ordinal: number, outcome: Outcome): void {
  path.states[ordinal] = { state: 'Succeeded', ports: [...outcome.keys()] }
  path.outcomes[ordinal] = outcome
}

function inputsOf(node: PlanNode, outcomes: readonly (Outcome | null)[]): BoundedInputs {
  return new Map(
    node.inputs.flatMap(({ port, collects, sources }) => {
      const there = sources.flatMap(({ ordinal, port: from }) => valueAt(outcomes[ordinal], from))
      return there.length === 0 ? [] : [[port, collects ? there : there.slice(0, 1)]]
    }),
  )
}

/** Returns the value at a port. Null values are omitted, as when a node runs (run-free-node.ts). */
export function valueAt(outcome: Outcome | null | undefined, port: string): BoundedValue[] {
  const value = outcome?.get(port)
  return value === undefined || (value.known && value.known.value === null) ? [] : [value]
}
