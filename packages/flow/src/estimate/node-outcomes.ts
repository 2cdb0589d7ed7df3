import type { Values } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import { utf8Bytes } from '@gateway/api/text-bytes'
import { CelFailure } from '../cel.ts'
import { nodeKind } from '../node-kinds.ts'
import type { PlanNode } from '../plan.ts'
import { runFreeNode } from '../run-free-node.ts'
import { readTemplate } from '../template.ts'
import { portTextJsonBytes } from '../json-text.ts'
import {
  knownValue,
  unknownText,
  unknownValue,
  type BoundedValue,
  type BoundedInputs,
  callBound,
} from './call-bound.ts'
import type { EstimatedProduct } from '@gateway/api/estimate'

// Possible outcomes of a node, from what is known about its inputs.
//   O1  A free node with known inputs is run as a worker runs it (run-free-node.ts). If it fails it has no values:
//       nodes that wait for it don't run, and a failing execution is charged no more than one that continues.
//   O2  Otherwise its values are bounded by the size of a port (flows §2.6).
//   O3  If several results are possible, such as both sides of a branch on an unknown value, each is an outcome.

/** Values by output port; other ports never have a value. */
export type Outcome = ReadonlyMap<string, BoundedValue>

const NUMBER_BYTES = 32
const BOOLEAN_BYTES = 5
const ASSET_BYTES = 256

/** @param mayRun false: this estimate runs no further nodes, and their values are bounded by size only */
function outcomesOf(node: PlanNode, inputs: BoundedInputs, mayRun: () => boolean): Outcome[] {
  if (node.paid) return answersOf(node)
  if (node.kind === 'output') return [new Map()] // no node follows it
  const known = knownInputs(node, inputs)
  if (known !== null && mayRun()) return [ranWith(node, known)]
  switch (node.kind) {
    case 'branch':
      return ['true', 'false'].map((side) => sideOf(node, inputs, side))
    case 'template':
      return [templateOf(node, inputs)]
    default:
      return [new Map([['value', unknownOfType(node.node['type'])]])]
  }
}

/** O1 */
function ranWith({ node }: PlanNode, inputs: Values): Outcome {
  const ran = runFreeNode(node, inputs, null)
  if (ran.kind === 'failed') return new Map()
  return new Map(ran.ports.map((port) => [port, knownValue(ran.output[port])]))
}

function knownInputs({ node }: PlanNode, inputs: BoundedInputs): Values | null {
  const collects = nodeKind(node.kind)?.collects ?? []
  const values: Values = {}
  for (const [port, given] of inputs) {
    if (given.some(({ known }) => known === undefined)) return null
    const there = given.map(({ known }) => known!.value)
    values[port] = collects.includes(port) ? there : there[0]
  }
  return values
}

/** O3 */
function sideOf(node: PlanNode, inputs: BoundedInputs, side: string): Outcome {
  return new Map(node.inputs.map(({ port }) => [`${side}.${port}`, inputs.get(port)?.[0] ?? knownValue(null)]))
}

/** Bounds a template by its text without the unknown values plus their sizes. If a hole computes with one, O2. */
function templateOf({ node }: PlanNode, inputs: BoundedInputs): Outcome {
  const read = readTemplate(node['template'] as string)
  if ('problems' in read) return new Map()
  const unknown = new Map(
    [...inputs].flatMap(([port, [value]]) => (value?.known === undefined ? [[port, value!]] : [])),
  )
  let moreBytes = 0
  for (const { source, names } of read.template.holes) {
    if (!names.some((name) => unknown.has(name))) continue
    const value = unknown.get(source.trim())
    if (value === undefined) return new Map([['text', unknownText()]])
    moreBytes += value.isText ? value.bytes - 2 : 2 * value.bytes // quotes of JSON are escaped in a text
  }
  const values = Object.fromEntries([...inputs].map(([port, [value]]) => [port, value?.known ? value.known.value : '']))
  try {
    const rendered = read.template.render(values, flowLimits.portBytes)
    if ('tooLarge' in rendered) return new Map()
    const bytes = utf8Bytes(JSON.stringify(rendered.text)) + moreBytes
    return new Map([['text', unknownText(Math.min(bytes, portTextJsonBytes))]])
  } catch (error) {
    if (error instanceof CelFailure) return new Map()
    throw error
  }
}

function unknownOfType(type: unknown): BoundedValue {
  if (type === 'boolean') return unknownValue(BOOLEAN_BYTES)
  if (type === 'number') return unknownValue(NUMBER_BYTES)
  return type === 'string' ? unknownText() : unknownValue()
}

/** The response of a product is unknown. With tools, tool calls and JSON may each be present or absent. */
function answersOf({ kind, node }: PlanNode): Outcome[] {
  if (kind === 'product.image') return [new Map([['image', unknownValue(ASSET_BYTES)]])]
  if (kind === 'product.audio') return [new Map([['audio', unknownValue(ASSET_BYTES)]])]
  const look = nodeKind(kind)!.look(node, { input: [], output: [] })
  const text = [['text', unknownText()]] as [string, BoundedValue][]
  const json = look.outputs.includes('json') ? [['json', unknownValue()] as [string, BoundedValue]] : []
  if (!look.outputs.includes('tool_calls')) return [new Map([...text, ...json])]
  const calls = [['tool_calls', unknownValue()]] as [string, BoundedValue][]
  const withJson = json.length > 0 ? [new Map([...text, ...json, ...calls])] : []
  return [new Map([...text, ...json]), new Map([...text, ...calls]), ...withJson]
}

/** Outcomes and costs of nodes, shared by all paths of an estimate. */
export interface Calls {
  /** Returns the outcomes for these inputs; cached per inputs. */
  perform(node: PlanNode, inputs: BoundedInputs): Performed
  /** Max micro-USD of the node over all inputs seen. */
  atMost(ordinal: number): bigint
}

interface Performed {
  outcomes: Outcome[]
  micro: bigint
}

/** Maximum runs of free nodes, each up to 50 ms (C4 of cel.ts). Beyond it, values are bounded by their size only. */
const MOST_RUNS = 100

export function openCalls(products: readonly EstimatedProduct[]): Calls {
  const byId = new Map(products.map((product) => [product.id, product]))
  const performed = new Map<string, Performed>()
  const bounds = new Map<number, bigint>()
  const ids = new Map<BoundedValue, number>()
  let runs = 0
  const mayRun = () => runs++ < MOST_RUNS

  /** Identifies a value by object identity, because values pass from port to port unchanged. */
  function idOf(value: BoundedValue): number {
    const id = ids.get(value) ?? ids.size
    ids.set(value, id)
    return id
  }

  return {
    perform(node, inputs) {
      const name = JSON.stringify([node.ordinal, [...inputs].map(([port, values]) => [port, values.map(idOf)])])
      const before = performed.get(name)
      if (before) return before
      const product = node.product === null ? undefined : byId.get(node.product)
      const micro = product ? callBound(node.node, inputs, product) : 0n
      const most = bounds.get(node.ordinal) ?? 0n
      bounds.set(node.ordinal, micro > most ? micro : most)
      const now = { outcomes: outcomesOf(node, inputs, mayRun), micro }
      performed.set(name, now)
      return now
    },
    atMost: (ordinal) => bounds.get(ordinal) ?? 0n,
  }
}
