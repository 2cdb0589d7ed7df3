import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import { windowStartMs } from '@gateway/pricing/spending-window'
import {
  NO_FACTOR,
  outputCap,
  promptTokensBound,
  reservedPromptTokens,
  upperBoundMicro,
} from '@gateway/pricing/upper-bound'
import type { Book, BudgetWindow, KeyFacts, ProductFacts } from './book.ts'

/** Remaining funds of wallets, meters and ceilings while a batch is decided (B4 of run_batch). */
export interface Remaining {
  wallet(project: string): bigint
  meter(key: KeyFacts, windowStartMs: number): bigint
  /** null: the execution has no ceiling. */
  ceiling(execution: string): bigint | null
  /** null: the budget does not bind. */
  budget(window: BudgetWindow): bigint | null
}

interface Asked {
  item: Pick<AdmitItem, 'instance' | 'promptSize' | 'parameters'>
  /** null: a direct call. */
  execution: string | null
  project: string
  /** null: the call has no key, so there is no limit. */
  key: KeyFacts | null
  product: ProductFacts
  budgets: BudgetWindow[]
}

/** `windowStartMs` is null if the key has no limit. */
export type Fit =
  | { code: 'fits'; micro: bigint; cap: bigint; prompt: bigint; windowStartMs: number | null }
  | { code: Exclude<string, 'fits'>; overBudget?: OverBudget }

/** The first budget that does not cover a call, and the bound of that call. */
export interface OverBudget {
  window: BudgetWindow
  micro: bigint
}

/**
 * Runs the checks of an admission whose caller may call this product: prompt size, instance, ceiling of the execution,
 * spending window, wallet.
 */
export function decideFit(
  book: Book,
  { item, execution, project, key, product, budgets }: Asked,
  nowMs: number,
  remaining: Remaining,
): Fit {
  const { refusal, micro, cap, prompt } = boundOf(item, product, book.factors.get(product.id) ?? NO_FACTOR)
  if (refusal) return { code: refusal }
  if (item.instance === null) return { code: 'would_admit' }
  if (!book.liveInstances.has(item.instance)) return { code: 'instance_unknown' }
  const leftOfCeiling = execution === null ? null : remaining.ceiling(execution)
  if (leftOfCeiling !== null && micro > leftOfCeiling) return { code: 'ceiling_reached' }
  const windowStart = key?.limit ? laterWindow(book, key, windowStartMs(key.limit.reset, nowMs)) : null
  if (key && windowStart !== null && micro > remaining.meter(key, windowStart)) return { code: 'key_limit' }
  const window = budgets.find((each) => micro > (remaining.budget(each) ?? micro))
  if (window) return { code: 'budget_reached', overBudget: { window, micro } }
  const needed = micro > 0n ? micro : 1n // on an empty wallet, even a free call is refused
  if (needed > remaining.wallet(project)) return { code: 'insufficient_budget' }
  return { code: 'fits', micro, cap, prompt, windowStartMs: windowStart }
}

function boundOf(
  { promptSize, parameters }: Asked['item'],
  product: ProductFacts,
  factor: bigint,
): { refusal: string | null; micro: bigint; cap: bigint; prompt: bigint } {
  const maxTokens = promptSize.maxTokens === null ? null : BigInt(promptSize.maxTokens)
  const cap = outputCap(maxTokens, product.bounded ? product.maxOutputTokens : 8192n)
  const known = promptTokensBound(product.overheads, {
    bytes: BigInt(promptSize.bytes),
    messages: BigInt(promptSize.messages),
    tools: BigInt(promptSize.tools),
    images: BigInt(promptSize.images),
    counted: promptSize.counted === null ? null : BigInt(promptSize.counted),
  })
  const hasFiles = (promptSize.files ?? 0) > 0
  const tooLong = (maxTokens ?? 0n) > product.maxOutputTokens || known + cap > product.contextLength
  const refusal = parameters.some((name) => !product.supportedParameters.has(name))
    ? 'unsupported_parameter'
    : promptSize.images > 0 && product.overheads.maxTokensPerImage === null
      ? 'images_unsupported'
      : hasFiles && !product.takesFiles
        ? 'files_unsupported'
        : product.bounded && tooLong
          ? 'context_limit'
          : null
  // The tokens of files are unknown, but a prompt that does not fit into the context is refused by its provider.
  const prompt = hasFiles && known < product.contextLength ? product.contextLength : known
  // The context check ignores the factor: the factor models how a provider counts, not what a model accepts.
  const reserved = reservedPromptTokens(prompt, factor)
  return { refusal, micro: upperBoundMicro(product.price, reserved, cap), cap, prompt }
}

/** If the clock goes back, a window that has ended is not opened again (money §6.2). */
export function laterWindow(book: Book, key: KeyFacts, startMs: number): number {
  return Math.max(startMs, book.meters.get(key.lineage)?.windowStartMs ?? startMs)
}

/** Returns what the limit of the key leaves in this window. It is below zero if the limit was lowered. */
export function leftInWindow(book: Book, { lineage, limit }: KeyFacts, windowStart: number): bigint {
  const meter = book.meters.get(lineage)
  const used = meter?.windowStartMs === windowStart ? meter.spent + meter.reserved : 0n
  return limit!.micro - used
}
