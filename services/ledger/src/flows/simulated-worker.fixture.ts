import type { Claimed, CompleteItem } from '@gateway/contracts/flow-items'
import type { Values } from '@gateway/contracts/execution'
import type { ContractSide, GraphNode } from '@gateway/contracts/graph'
import { refuse } from '@gateway/contracts/refusal'
import { advance, type NodeState } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import { resolveInputs } from '@gateway/flow/resolve-inputs'
import { runFreeNode } from '@gateway/flow/run-free-node'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Replica } from '../replica.fixture.ts'
import { newLease, type Engine } from './engine.fixture.ts'

// A worker without a process: it claims, performs and completes as a real one does, and misbehaves as chance wants it. What a model
// answers depends on what it is asked alone, so that a run can be computed apart and compared.

export type Chance = () => number

/** The same numbers for the same seed, from 0 to 1. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What a paid node answers, and what that used. */
function callProduct(node: GraphNode, inputs: Values): { output: Values; completionTokens: number } {
  const asked = JSON.stringify(inputs)
  const completionTokens = 1 + (asked.length % 40)
  const asset = (mimeType: string) => ({ asset: `ast_${asked.length}`, mimeType, bytes: asked.length + 1 })
  switch (node.kind) {
    case 'product.image':
      return { output: { image: asset('image/png') }, completionTokens }
    case 'product.audio':
      return { output: { audio: asset('audio/wav') }, completionTokens }
    default:
      return { output: { text: `answer to ${asked}`.slice(0, 200) }, completionTokens }
  }
}

interface Place {
  engine: Engine
  money: Replica
}

/** Out of a hundred deliveries. */
export interface Mischief {
  dies: number
  givesBack: number
  fails: number
}

/** The worker process that is alive now; its death ends its instance. */
export interface Process {
  instance: string
  alive: boolean
}

/**
 * Takes a job up at one replica and ends it at another. Answers `died` when its process is to end without a word, with what the dead
 * would still say later.
 */
export async function deliver(
  job: NodeJob,
  { places, process, chance, mischief }: { places: Place[]; process: Process; chance: Chance; mischief: Mischief },
): Promise<{ died: false } | { died: true; lateWords: () => Promise<string> }> {
  const somewhere = () => places[Math.floor(chance() * places.length)]!
  const { execution, node, attempt } = job
  const lease = newLease()
  const claimItem = { execution, node, attempt, lease, instance: process.instance }
  const claim = await somewhere().engine.claim(claimItem)
  if (claim.kind !== 'claimed') return { died: false }
  if (chance() < 0.3) {
    const again = await somewhere().engine.claim(claimItem)
    if (again.kind === 'claimed' && !same(again, claim)) throw new Error('a claim asked again answers another')
  }
  const fate = chance() * 100
  const performed = await perform(claim, { execution, lease, instance: process.instance, money: somewhere().money })
  const item: Omit<CompleteItem, 'op'> = { execution, node, lease, ...performed }
  const failed = refuse('provider_failed', {}).body
  if (fate < mischief.dies) {
    return { died: true, lateWords: async () => (await somewhere().engine.complete(item)).kind }
  }
  if (fate < mischief.dies + mischief.givesBack) Object.assign(item, { result: { kind: 'given-back' }, usage: null })
  else if (fate < mischief.dies + mischief.givesBack + mischief.fails)
    Object.assign(item, { result: { kind: 'failed', error: JSON.stringify(failed) }, usage: null })
  await somewhere().engine.complete(item)
  if (chance() < 0.3) await somewhere().engine.complete(item)
  return { died: false }
}

async function perform(
  claim: Claimed,
  { execution, lease, instance, money }: { execution: string; lease: string; instance: string; money: Replica },
): Promise<Pick<CompleteItem, 'result' | 'usage' | 'durationMs' | 'remoteMs'>> {
  const inputs = resolveInputs(claim.sources, claim.outputs, claim.node)
  const times = { durationMs: 2, remoteMs: null }
  if (!claim.node.kind.startsWith('product.')) {
    const contract = claim.contract === null ? null : (JSON.parse(claim.contract) as ContractSide)
    const result = runFreeNode(claim.node, inputs, contract)
    return { ...times, usage: null, result: written(result) }
  }
  const admitted = await money.admissionBatcher.submit(
    {
      op: 'admit-node',
      id: claim.callReservation,
      execution,
      node: claim.node.id,
      lease,
      instance,
      model: claim.node['product'] as string,
      parameters: [],
      promptSize: { bytes: 10, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 50 },
    },
    10_000,
  )
  if (admitted.kind !== 'admitted') {
    const error = admitted.kind === 'refused' ? admitted.code : admitted.kind
    return { ...times, usage: null, result: { kind: 'failed', error: JSON.stringify({ code: error }) } }
  }
  const { output, completionTokens } = callProduct(claim.node, inputs)
  return {
    durationMs: 3,
    remoteMs: 2,
    usage: { promptTokens: 5, completionTokens, estimated: false },
    result: written({ kind: 'succeeded', output, ports: Object.keys(output) }),
  }
}

function written(result: ReturnType<typeof runFreeNode>): CompleteItem['result'] {
  return result.kind === 'succeeded'
    ? { kind: 'succeeded', output: JSON.stringify(result.output), ports: result.ports }
    : { kind: 'failed', error: JSON.stringify(result.error) }
}

/** Equal but for the time that is left. */
function same(a: Claimed, b: Claimed): boolean {
  return JSON.stringify({ ...a, remainingMs: 0 }) === JSON.stringify({ ...b, remainingMs: 0 })
}

/** What a node comes to when a run is computed in one place, one node after the other. */
export interface Expected {
  status: NodeState['state']
  output: string | null
  chargedMicro: number
}

/** Computes a run apart, as if nothing ever failed. null where a node fails by itself. */
export function expectedExecution(plan: Plan, input: Values, output: ContractSide): Expected[] | null {
  const states: NodeState[] = plan.nodes.map(() => ({ state: 'Pending', ports: [] }))
  const nodes: Expected[] = plan.nodes.map(() => ({ status: 'Pending', output: null, chargedMicro: 0 }))
  const end = (ordinal: number, values: Values, chargedMicro = 0) => {
    states[ordinal] = { state: 'Succeeded', ports: Object.keys(values) }
    nodes[ordinal] = { status: 'Succeeded', output: JSON.stringify(values), chargedMicro }
  }
  end(plan.input, input)
  for (;;) {
    const { ready, skipped } = advance(plan, states)
    for (const ordinal of skipped) {
      states[ordinal] = { state: 'Skipped', ports: [] }
      nodes[ordinal]!.status = 'Skipped'
    }
    if (ready.length === 0) return nodes
    for (const ordinal of ready) {
      const { node, sources, paid } = plan.nodes[ordinal]!
      const outputs = Object.fromEntries(
        plan.nodes.flatMap(({ id }, n) => (nodes[n]!.output === null ? [] : [[id, nodes[n]!.output] as const])),
      )
      const inputs = resolveInputs(sources, outputs, node)
      if (paid) {
        const { output: values, completionTokens } = callProduct(node, inputs)
        end(ordinal, values, completionTokens)
        continue
      }
      const result = runFreeNode(node, inputs, ordinal === plan.output ? output : null)
      if (result.kind === 'failed') return null
      end(ordinal, result.output)
    }
  }
}
