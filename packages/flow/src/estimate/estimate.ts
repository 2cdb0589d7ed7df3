import type { EstimateFacts, SandboxEstimate } from '@gateway/api/estimate'
import { type Plan, type PlanNode, planOf } from '../plan.ts'
import { type Calls, openCalls, type Outcome } from './node-outcomes.ts'
import type { Values } from '@gateway/api/execution'
import { anyOf, type BoundedValue, type BoundedInputs, knownValue } from './call-bound.ts'
import { advance, type NodeState } from '../advance.ts'

/**
 * Computes the max cost of an execution (money §7.6) from the ledger's facts at one moment. Each step of the generator
 * is short, so the caller can serve other requests between steps.
 */
export function* estimate(facts: EstimateFacts): Generator<void, SandboxEstimate> {
  const plan = planOf(facts.package)
  const calls = openCalls(facts.products)
  const maxMicro = yield* boundOfMaxCostPath(plan, facts.values, calls)
  const atMost = maxMicro ?? (yield* boundOfAllPaths(plan, facts.values, calls))
  return {
    object: 'sandbox.estimate',
    sandbox: facts.sandbox,
    revision: facts.revision,
    atMostMicro: Number(atMost),
    nodes: plan.nodes
      .filter(({ paid }) => paid)
      .map(({ id, ordinal }) => ({ id, atMostMicro: Number(calls.atMost(ordinal)) })),
    last: facts.last,
  }
}

/**
 * Returns the max micro-USD of all nodes that any path of an execution can reach: both sides of a branch on an unknown
 * value count. Never less than the max-cost path alone, on which nodes can have other values.
 */
export function* boundOfAllPaths(plan: Plan, input: Values, calls: Calls): Generator<void, bigint> {
  const ended: (Outcome | null)[] = plan.nodes.map(() => null)
  ended[plan.input] = inputOutcome(input)
  let total = 0n
  for (let waiting = plan.nodes.filter(({ ordinal }) => ordinal !== plan.input); waiting.length > 0;) {
    const ready = waiting.filter(({ inputs }) =>
      inputs.every(({ sources }) => sources.every(({ ordinal }) => ended[ordinal] !== null)),
    )
    if (ready.length === 0) throw new Error('the nodes of a plan wait for each other')
    for (const node of ready) {
      const inputs = inputsOf(node, ended)
      if (inputs === null) ended[node.ordinal] = new Map() // the node never runs
      else {
        const { outcomes, micro } = calls.perform(node, inputs)
        total += micro
        ended[node.ordinal] = together(outcomes)
      }
      yield
    }
    waiting = waiting.filter((node) => !ready.includes(node))
  }
  return total
}

/** Returns the inputs of a node, or null if a required one will never have a value. */
function inputsOf(node: PlanNode, ended: readonly (Outcome | null)[]): BoundedInputs | null {
  const inputs = new Map<string, BoundedValue[]>()
  for (const { port, required, collects, sources } of node.inputs) {
    const mayCome = sources.some(({ ordinal, port: from }) => ended[ordinal]!.has(from))
    if (required && !mayCome && node.kind !== 'output') return null
    const there = sources.flatMap(({ ordinal, port: from }) => valueAt(ended[ordinal], from))
    if (there.length > 0) inputs.set(port, collects ? there : [anyOf(there)])
  }
  return inputs
}

function together(outcomes: readonly Outcome[]): Outcome {
  const ports = new Set(outcomes.flatMap((outcome) => [...outcome.keys()]))
  return new Map(
    [...ports].map((port) => [port, anyOf(outcomes.flatMap((outcome) => outcome.get(port) ?? []))] as const),
  )
}

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
function* boundOfMaxCostPath(plan: Plan, input: Values, calls: Calls): Generator<void, bigint | null> {
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
      const { outcomes, micro } = calls.perform(node, inputsOfNode(node, path.outcomes))
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

function inputOutcome(input: Values): Outcome {
  return new Map(Object.entries(input).map(([port, value]) => [port, knownValue(value)]))
}

function end(path: Path, ordinal: number, outcome: Outcome): void {
  path.states[ordinal] = { state: 'Succeeded', ports: [...outcome.keys()] }
  path.outcomes[ordinal] = outcome
}

function inputsOfNode(node: PlanNode, outcomes: readonly (Outcome | null)[]): BoundedInputs {
  return new Map(
    node.inputs.flatMap(({ port, collects, sources }) => {
      const there = sources.flatMap(({ ordinal, port: from }) => valueAt(outcomes[ordinal], from))
      return there.length === 0 ? [] : [[port, collects ? there : there.slice(0, 1)]]
    }),
  )
}

/** Returns the value at a port. Null values are omitted, as when a node runs (run-free-node.ts). */
function valueAt(outcome: Outcome | null | undefined, port: string): BoundedValue[] {
  const value = outcome?.get(port)
  return value === undefined || (value.known && value.known.value === null) ? [] : [value]
}
