import { createHash } from 'node:crypto'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { Database } from '@gateway/database/client'
import { windowStartMs, type Reset } from '@gateway/pricing/spending-window'
import { outputCap, promptTokensBound, reservedPromptTokens, upperBoundMicro } from '../stack/ledger-parts.ts'

// The obvious implementation: an interactive transaction per admission, which locks the wallet, reads every fact,
// decides, and writes reservation, journal, seal, wallet and meter. Same checks, rows and durability as a batch. It
// reads as rarely as possible: the key with its issuer's permissions in one statement, the product with its assignment
// in one.

interface KeyRow {
  id: string
  project: string | null
  lineage: string
  policy: string
  limit_micro: bigint | null
  limit_reset: Reset | null
  expires_at: Date | null
  revoked_at: Date | null
  rotated_to: string | null
  issuer_authorized: boolean
}

interface WalletRow {
  funded: bigint
  reserved: bigint
  settled: bigint
  journal_seq: bigint
  seal: Uint8Array
}

interface ProductRow {
  id: string
  context_length: number
  max_output_tokens: number
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  tokens_per_byte_millionths: number
  factor_millionths: number
  per_message: number
  per_tool: number
  fixed_with_tools: number
  supported_parameters: string[]
}

/** Admits one call in a separate transaction; returns the reservation's id. Throws the code of a refusal. */
export function naiveAdmission({ prisma }: Pick<Database, 'prisma'>) {
  return (item: AdmitItem): Promise<string> =>
    prisma.$transaction(
      async (tx) => {
        const hash = Buffer.from(item.keyHash, 'hex')
        const [bound] = await tx.$queryRaw<{ project: string | null }[]>`
          SELECT project FROM control.keys WHERE hash = ${hash}`
        if (!bound?.project) throw new Error('key_invalid')
        const project = bound.project

        const [wallet] = await tx.$queryRaw<WalletRow[]>`
          SELECT * FROM money.wallets WHERE project = ${project} FOR UPDATE`
        if (!wallet) throw new Error('insufficient_budget')
        const now = new Date()

        const [key] = await tx.$queryRaw<KeyRow[]>`SELECT * FROM money.callers WHERE hash = ${hash}`
        if (!key) throw new Error('key_invalid')
        if (key.revoked_at || key.rotated_to) throw new Error('key_revoked')
        if (key.expires_at && key.expires_at <= now) throw new Error('key_expired')
        if (!key.issuer_authorized) throw new Error('key_issuer_denied')
        if (item.selector !== null && item.selector !== project) throw new Error('project_mismatch')

        const [product] = await tx.$queryRaw<ProductRow[]>`
          SELECT * FROM money.callable_models WHERE project = ${project} AND id = ${item.model}`
        if (!product) throw new Error('model_not_found')
        if (key.policy === 'listed') {
          const listed = await tx.keyResource.findUnique({
            where: { key_resource: { key: key.id, resource: item.model } },
          })
          if (!listed) throw new Error('key_scope')
        }
        const again = await tx.reservation.findUnique({ where: { id: item.id } })
        const closed = await tx.attempt.findUnique({ where: { id: item.id } })
        if (again || closed) throw new Error('asked before')
        if (item.parameters.some((name) => !product.supported_parameters.includes(name)))
          throw new Error('unsupported_parameter')
        const { micro, cap } = boundOf(item, product)

        const instance = await tx.instance.findUnique({ where: { id: item.instance ?? '' } })
        if (!instance || instance.endedAt) throw new Error('instance unknown')

        const meter = key.limit_micro === null ? null : await tx.meter.findUnique({ where: { lineage: key.lineage } })
        const windowStart = key.limit_reset === null ? null : new Date(windowStartMs(key.limit_reset, now.getTime()))
        const sameWindow = meter?.windowStart.getTime() === windowStart?.getTime()
        const used = meter && sameWindow ? meter.spent + meter.reserved : 0n
        if (key.limit_micro !== null && micro > key.limit_micro - used) throw new Error('key_limit')
        if (micro > wallet.funded - wallet.settled - wallet.reserved) throw new Error('insufficient_budget')

        await tx.reservation.create({
          data: {
            id: item.id,
            invocation: item.id,
            attempt: 1,
            project,
            key: key.id,
            lineage: key.lineage,
            windowStart,
            product: product.id,
            instance: instance.id,
            micro,
            outputCap: Number(cap),
            promptPico: product.prompt_pico,
            completionPico: product.completion_pico,
            requestPico: product.request_pico,
            keyed: false,
            admittedAt: now,
            deadlineAt: new Date(now.getTime() + 330_000),
          },
        })
        const seq = wallet.journal_seq + 1n
        await tx.journalEntry.create({
          data: {
            project,
            seq,
            kind: 'reserve',
            reference: item.id,
            available: -micro,
            reserved: micro,
            settled: 0n,
            outside: 0n,
            at: now,
          },
        })
        const seal = createHash('sha256').update(wallet.seal).update(`${seq} reserve ${item.id} ${micro} 0 0`).digest()
        await tx.journalBlock.create({ data: { project, lastSeq: seq, seal } })
        await tx.wallet.update({
          where: { project },
          data: { reserved: { increment: micro }, journalSeq: seq, seal },
        })
        if (key.limit_micro !== null && windowStart) {
          const opened = { project, windowStart, limitMicro: key.limit_micro, spent: 0n, reserved: micro }
          await tx.meter.upsert({
            where: { lineage: key.lineage },
            create: { lineage: key.lineage, ...opened },
            update: sameWindow ? { reserved: { increment: micro } } : opened,
          })
        }
        return item.id
      },
      { maxWait: 30_000, timeout: 30_000 },
    )
}

function boundOf({ promptSize }: AdmitItem, product: ProductRow): { micro: bigint; cap: bigint } {
  const maxTokens = promptSize.maxTokens === null ? null : BigInt(promptSize.maxTokens)
  const cap = outputCap(maxTokens, BigInt(product.max_output_tokens))
  const prompt = promptTokensBound(
    {
      tokensPerByteMillionths: BigInt(product.tokens_per_byte_millionths),
      perMessage: BigInt(product.per_message),
      perTool: BigInt(product.per_tool),
      fixedWithTools: BigInt(product.fixed_with_tools),
      maxTokensPerImage: null,
    },
    {
      bytes: BigInt(promptSize.bytes),
      messages: BigInt(promptSize.messages),
      tools: BigInt(promptSize.tools),
      images: BigInt(promptSize.images),
      counted: promptSize.counted === null ? null : BigInt(promptSize.counted),
    },
  )
  if ((maxTokens ?? 0n) > BigInt(product.max_output_tokens) || prompt + cap > BigInt(product.context_length))
    throw new Error('context_limit')
  const price = {
    promptPico: product.prompt_pico,
    completionPico: product.completion_pico,
    requestPico: product.request_pico,
  }
  const reserved = reservedPromptTokens(prompt, BigInt(product.factor_millionths))
  return { micro: upperBoundMicro(price, reserved, cap), cap }
}
