import { setImmediate as nextTurn } from 'node:timers/promises'
import { readChatRequest } from '@gateway/api/chat-request'
import type { EstimatedProduct } from '@gateway/api/estimate'
import type { Values } from '@gateway/api/execution'
import type { Claimed, CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { ContractSide, GraphNode } from '@gateway/api/graph'
import type { Admitted, RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { Refusal, refuse } from '@gateway/api/refusal'
import { chatMessages } from '@gateway/flow/kinds/product-chat'
import { resolveInputs, runFreeNode } from '@gateway/flow/run-free-node'
import { promptTokensBound } from '@gateway/pricing/upper-bound'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { newLease, type Engine } from '../../fixtures/engine.ts'
import type { Replica } from '../../fixtures/replica.ts'
import type { Chance } from '../../fixtures/simulated-worker.ts'

// A worker without a process. Its calls are as large as a real one's, and its providers report any usage they like.

export interface Bench {
  slots: { engine: Engine; money: Replica }[]
  chance: Chance
  products: ReadonlyMap<string, EstimatedProduct>
  /** Late messages of workers that were declared dead. */
  lateWords: (() => Promise<unknown>)[]
}

type Performed = Pick<CompleteItem, 'result' | 'usage'>

/** Maximum number of waits for siblings: one of them may have died. */
const TRIES = 20

/** Runs a job, and continues with the nodes it is handed. Returns whether its process is to die silently. */
export async function deliver(bench: Bench, job: NodeJob, instance: string): Promise<'ended' | 'died'> {
  const { slots, chance } = bench
  const somewhere = () => slots[Math.floor(chance() * slots.length)]!
  const { execution } = job
  let lease = newLease()
  const claimed = await somewhere().engine.claim({ execution, node: job.node, attempt: job.attempt, lease, instance })
  let claim = claimed.kind === 'claimed' ? claimed : null
  while (claim !== null) {
    const fate = chance()
    const node = claim.node.id
    const performed = await perform(bench, claim, { execution, lease, instance }, somewhere().money)
    const next = { lease: newLease(), instance }
    const { callReservation } = claim
    const item = {
      execution,
      node,
      lease,
      ...(callReservation !== '' && { reservation: callReservation }),
      ...performed,
      ...(fate < 0.04 && { result: { kind: 'given-back' } as const, usage: null }),
      measured: { durationMs: 1, remoteMs: null },
      next,
    }
    if (fate > 0.9985) {
      bench.lateWords.push(() => somewhere().engine.complete(item))
      return 'died'
    }
    const answer = await somewhere().engine.complete(item)
    claim = (answer.kind === 'completed' && answer.next) || null
    lease = next.lease
  }
  return 'ended'
}

async function perform(
  bench: Bench,
  claim: Claimed,
  held: { execution: string; lease: string; instance: string },
  money: Replica,
): Promise<Performed> {
  const { node } = claim
  const inputs = resolveInputs(claim.sources, claim.outputs, node)
  if (!node.kind.startsWith('product.')) {
    const ran = runFreeNode(node, inputs, claim.contract === null ? null : (JSON.parse(claim.contract) as ContractSide))
    return { usage: null, result: ran.kind === 'failed' ? failed(ran.error) : succeeded(ran.output) }
  }
  try {
    const product = bench.products.get(node['product'] as string)!
    const size = sizeOf(bench, node, inputs, product)
    const admitted = await admit(money, { ...held, id: claim.callReservation, node: node.id, model: product.id, size })
    if (admitted.kind === 'refused') return { usage: null, result: failed(refusalFor(admitted, 'node').body) }
    if (bench.chance() < 0.01) return { usage: null, result: failed(refuse('provider_failed', {}).body) }
    const usage = usageOf(bench, product, size, admitted.outputCap)
    return { usage, result: succeeded(answerOf(bench, node)) }
  } catch (error) {
    if (error instanceof Refusal) return { usage: null, result: failed(error.body) }
    throw error
  }
}

type Size = Parameters<Replica['admitNode']>[0]['promptSize']

function sizeOf({ chance }: Bench, node: GraphNode, inputs: Values, product: EstimatedProduct): Size {
  const text = (port: string) => (typeof inputs[port] === 'string' ? inputs[port] : null)
  if (node.kind !== 'product.chat') {
    const kind = node.kind.slice('product.'.length)
    const wish =
      kind === 'image' ? { kind, prompt: text('prompt') } : { kind, text: text('text'), voice: text('voice') }
    const bytes = Buffer.byteLength(JSON.stringify(wish))
    return { bytes, messages: 0, tools: 0, images: 0, counted: null, maxTokens: null }
  }
  const images = ((inputs['image'] ?? []) as { asset: string }[]).map(({ asset }) => `asset:${asset}`)
  const messages = chatMessages({ system: text('system'), prompt: text('prompt') ?? '', images })
  const request = readChatRequest({ ...(node['params'] as object), messages, model: product.id })
  const mayCount = product.counted && chance() < 0.3
  // No tokenizer produces more tokens than a text has bytes.
  const counted = mayCount ? Math.floor(chance() * request.promptSize.bytes) : null
  return { ...request.promptSize, counted, maxTokens: request.maxTokens }
}

/** Retries what fits once siblings have settled (services/worker/src/perform/perform-paid-node.ts). */
async function admit(
  money: Replica,
  {
    size,
    ...item
  }: { id: string; execution: string; node: string; lease: string; instance: string; model: string; size: Size },
): Promise<Admitted | RefusedItem> {
  for (let tries = 1; ; tries++) {
    const outcome = await money.admitNode({ op: 'admit-node', parameters: [], promptSize: size, ...item })
    if (outcome.kind === 'admitted') return outcome
    if (outcome.kind !== 'refused') throw refuse('node_failed', { node: item.node }) // another worker has its lease
    const waits = outcome.code === 'ceiling_reached' && outcome.facts.reservedMicro > 0
    if (!waits || tries === TRIES) return outcome
    for (let turns = 0; turns < 5; turns++) await nextTurn()
  }
}

/** Returns usage up to the bound and beyond: beyond the prompt's only if no estimate relied on the factor it raises. */
function usageOf({ chance }: Bench, product: EstimatedProduct, size: Size, cap: number): CompleteItem['usage'] {
  const { maxTokensPerImage, factorMillionths } = product
  const bound = promptTokensBound(
    {
      tokensPerByteMillionths: BigInt(product.tokensPerByteMillionths),
      perMessage: BigInt(product.perMessage),
      perTool: BigInt(product.perTool),
      fixedWithTools: BigInt(product.fixedWithTools),
      maxTokensPerImage: maxTokensPerImage === null ? null : BigInt(maxTokensPerImage),
    },
    {
      bytes: BigInt(size.bytes),
      messages: BigInt(size.messages),
      tools: BigInt(size.tools),
      images: BigInt(size.images),
      counted: size.counted === null ? null : BigInt(size.counted),
    },
  )
  const most = factorMillionths === 4_000_000 ? 6 : 1
  const promptTokens = Math.floor(chance() * most * Number(bound))
  const completionTokens = Math.floor(chance() * 2 * cap)
  const parts = {
    cachedTokens: Math.floor(chance() * chance() * promptTokens),
    cacheWriteTokens: Math.floor(chance() * promptTokens),
    reasoningTokens: 0,
  }
  return { promptTokens, completionTokens, estimated: false, ...(chance() < 0.3 && parts) }
}

function answerOf({ chance }: Bench, { kind }: GraphNode): Values {
  const id = `ast_${Math.floor(chance() * 1e9)}`
  if (kind === 'product.image')
    return { image: { asset: id, mimeType: 'image/png', bytes: 1 + Math.floor(chance() * 1e6) } }
  if (kind === 'product.audio')
    return { audio: { asset: id, mimeType: 'audio/wav', bytes: 1 + Math.floor(chance() * 1e6) } }
  const length = chance() < 0.01 ? 30_000 : Math.floor(chance() * 600)
  return { text: 'a"é'.repeat(Math.ceil(length / 3)) }
}

const failed = (error: object): CompleteItem['result'] => ({ kind: 'failed', error: JSON.stringify(error) })
const succeeded = (output: Values): CompleteItem['result'] => ({
  kind: 'succeeded',
  output: JSON.stringify(output),
  ports: Object.keys(output),
})
