import { readChatRequest } from '@gateway/api/chat-request'
import type { EstimatedProduct } from '@gateway/api/estimate'
import type { GraphNode } from '@gateway/api/graph'
import { chatLimits, flowLimits } from '@gateway/api/limits'
import { Refusal } from '@gateway/api/refusal'
import { utf8Bytes } from '@gateway/api/text-bytes'
import { outputCap, promptTokensBound, reservedPromptTokens, upperBoundMicro } from '@gateway/pricing/upper-bound'
import { chatMessages } from '../kinds/product-chat.ts'
import { portTextJsonBytes } from '../json-text.ts'

/** Values by input port; several for a port that collects. */
export type BoundedInputs = ReadonlyMap<string, readonly BoundedValue[]>

/**
 * Returns the max micro-USD that the call of a paid node reserves, computed as at admission (money §2). 0 if the call
 * is impossible for any value of its unknown inputs, for example because the prompt is too long or null.
 */
export function callBound(node: GraphNode, inputs: BoundedInputs, product: EstimatedProduct): bigint {
  const size = node.kind === 'product.chat' ? chatSize(node, inputs) : mediaSize(node, inputs)
  if (size === null || (size.images > 0 && product.maxTokensPerImage === null)) return 0n
  const cap = outputCap(size.maxTokens, product.bounded ? BigInt(product.maxOutputTokens) : 8_192n)
  if (product.bounded && (size.maxTokens ?? 0n) > BigInt(product.maxOutputTokens)) return 0n
  const prompt = promptTokensBound(overheadsOf(product), {
    bytes: BigInt(size.bytes),
    messages: BigInt(size.messages),
    tools: BigInt(size.tools),
    images: BigInt(size.images),
    counted: null,
  })
  const room = BigInt(product.contextLength) - cap // a longer prompt is refused with `context_limit` and not charged
  if (product.bounded && room < 0n) return 0n
  const fitting = product.bounded && room < prompt ? room : prompt
  const price = {
    promptPico: BigInt(product.promptPico),
    cacheWritePico: product.cacheWritePico === null ? null : BigInt(product.cacheWritePico),
    completionPico: BigInt(product.completionPico),
    requestPico: BigInt(product.requestPico),
  }
  return upperBoundMicro(price, reservedPromptTokens(fitting, BigInt(product.factorMillionths)), cap)
}

/** An exact count may exceed the bound by tokens per byte, but never the number of bytes (E1 of exact-count.ts). */
function overheadsOf(product: EstimatedProduct) {
  const { tokensPerByteMillionths: declared, maxTokensPerImage } = product
  return {
    tokensPerByteMillionths: BigInt(product.counted ? Math.max(declared, 1_000_000) : declared),
    perMessage: BigInt(product.perMessage),
    perTool: BigInt(product.perTool),
    fixedWithTools: BigInt(product.fixedWithTools),
    maxTokensPerImage: maxTokensPerImage === null ? null : BigInt(maxTokensPerImage),
  }
}

interface CallSize {
  bytes: number
  messages: number
  tools: number
  images: number
  maxTokens: bigint | null
}

/** Size of the request with one character in place of each unknown text, plus a bound for the rest of those texts. */
function chatSize(node: GraphNode, inputs: BoundedInputs): CallSize | null {
  const [system, prompt] = [textIn(inputs, 'system'), textIn(inputs, 'prompt')]
  const images = (inputs.get('image') ?? []).map(referenceOf)
  if (prompt === null) return null // a null fails the node before its call
  const messages = chatMessages({ system: system?.text ?? null, prompt: prompt.text, images })
  try {
    const request = readChatRequest({ ...paramsOf(node), messages, model: 'product' })
    const bytes = request.promptSize.bytes + (system?.moreBytes ?? 0) + prompt.moreBytes
    const maxTokens = request.maxTokens === null ? null : BigInt(request.maxTokens)
    return { ...request.promptSize, bytes: Math.min(bytes, chatLimits.forwardedBytes), maxTokens }
  } catch (error) {
    if (error instanceof Refusal) return null // the node is refused too
    throw error
  }
}

/** Size of a media request with all params, although only some are sent. */
function mediaSize(node: GraphNode, inputs: BoundedInputs): CallSize | null {
  if (textIn(inputs, node.kind === 'product.audio' ? 'text' : 'prompt') === null) return null // as for a chat
  const texts = ['prompt', 'text', 'voice'].flatMap((port) => {
    const read = textIn(inputs, port)
    return read === null ? [] : [{ port, ...read }]
  })
  const wish = {
    voice: null,
    ...paramsOf(node),
    kind: node.kind.slice('product.'.length),
    ...Object.fromEntries(texts.map(({ port, text }) => [port, text])),
  }
  const bytes = texts.reduce((sum, { moreBytes }) => sum + moreBytes, utf8Bytes(JSON.stringify(wish)))
  return { bytes, messages: 0, tools: 0, images: 0, maxTokens: null }
}

function textIn(inputs: BoundedInputs, port: string): { text: string; moreBytes: number } | null {
  const value = inputs.get(port)?.[0]
  if (value === undefined) return null
  if (value.known === undefined) return { text: 'x', moreBytes: Math.max(0, value.bytes - 2) }
  return typeof value.known.value === 'string' ? { text: value.known.value, moreBytes: 0 } : null
}

/** Returns the asset reference, or a placeholder of maximum length if it is unknown. */
function referenceOf({ known }: BoundedValue): string {
  const asset = (known?.value as { asset?: unknown } | null | undefined)?.asset
  return `asset:${typeof asset === 'string' ? asset : `ast_${'x'.repeat(60)}`}`
}

function paramsOf({ params }: GraphNode): object {
  return typeof params === 'object' && params !== null ? params : {}
}

/** Value of a port: the value itself, or only a bound of its size. */
export interface BoundedValue {
  /** Absent: unknown. */
  known?: { value: unknown }
  /** Upper bound for its compact JSON in UTF-8 bytes. */
  bytes: number
  /** The value is a string, which does not grow when inserted into another string. */
  isText: boolean
}

export function knownValue(value: unknown): BoundedValue {
  const bytes = utf8Bytes(JSON.stringify(value) ?? 'null')
  return { known: { value }, bytes, isText: typeof value === 'string' }
}

export function unknownText(bytes: number = portTextJsonBytes): BoundedValue {
  return { bytes, isText: true }
}

export function unknownValue(bytes: number = flowLimits.portBytes): BoundedValue {
  return { bytes, isText: false }
}

/** Returns a bound that covers any one of the values. */
export function anyOf(values: readonly BoundedValue[]): BoundedValue {
  if (values.length === 1) return values[0]!
  const bytes = Math.max(...values.map((value) => value.bytes))
  return { bytes, isText: values.every(({ isText }) => isText) }
}
