import { trace, type Attributes } from '@opentelemetry/api'
import type { Values } from '@gateway/api/execution'
import type { ContractSide } from '@gateway/api/graph'
import { rememberedByText } from '@gateway/flow/remembered'
import { resolveInputs } from '@gateway/flow/run-free-node'
import type { Deps } from '../deps.ts'
import type { Cancellation, Performed, Work } from '../work.ts'
import { explainFailure } from './explain-failure.ts'
import { outcomeAttributes, performPaidNode } from './perform-paid-node.ts'
import type { PaidKind } from '../kinds/paid-kind.ts'
import { prepareChat } from '../kinds/product-chat.ts'
import { prepareAudio, prepareImage } from '../kinds/product-media.ts'

/** Performs a paid or free node. Never rejects: a failure is a result. Records the outcome on the job's span. */
export async function performNode(deps: Deps, work: Work, cancellation: Cancellation): Promise<Performed> {
  const { node, sources, outputs } = work.claim
  const span = trace.getActiveSpan()
  span?.setAttributes(nodeAttributes(work))
  let performed: Performed
  try {
    const inputs = resolveInputs(sources, outputs, node)
    const paid = paidKinds[node.kind]
    performed = paid
      ? await performPaidNode(deps, work, paid, inputs, cancellation)
      : await performFreeNode(deps, work, inputs)
  } catch (error) {
    performed = { result: explainFailure(deps, error, work), usage: null, remoteMs: null }
  }
  span?.setAttributes(outcomeAttributes(performed))
  return performed
}

/** Returns the same object for the same text, so that each contract is compiled once. */
const sideOf = rememberedByText((contract) => JSON.parse(contract) as ContractSide)

async function performFreeNode(
  { freeNodes }: Pick<Deps, 'freeNodes'>,
  { claim: { node, contract } }: Work,
  inputs: Values,
): Promise<Performed> {
  const ran = await freeNodes.run({ node, inputs, contract: contract === null ? null : sideOf(contract) })
  const free = { usage: null, remoteMs: null }
  if (ran.kind === 'failed') return { ...free, result: { kind: 'failed', error: JSON.stringify(ran.error) } }
  return { ...free, result: { kind: 'succeeded', output: JSON.stringify(ran.output), ports: ran.ports } }
}

function nodeAttributes({ claim: { node, project, callId } }: Work): Attributes {
  return {
    'service.project': project,
    'service.node.kind': node.kind,
    ...(callId !== '' && { 'service.invocation': callId }),
  }
}

/** Kinds of nodes that call a product. All others are free and computed by packages/flow. */
const paidKinds: Readonly<Record<string, PaidKind>> = {
  'product.chat': { prepare: prepareChat, output: 'text' },
  'product.image': { prepare: prepareImage, output: 'image' },
  'product.audio': { prepare: prepareAudio, output: 'speech' },
}
