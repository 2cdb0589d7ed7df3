import { randomFillSync } from 'node:crypto'
import type { AdmitItem, SettleItem } from '@gateway/ledger-protocol/ledger-items'
import { mintId } from '@gateway/api/ids'
import type { BenchWallet, BenchFixture } from './wallets.ts'

const random = Buffer.alloc(4096)
let used = random.length

/**
 * The admission of a small chat call: about 100 bytes of prompt and 50 output tokens, with the wallet's keys in turn.
 */
export function admission({ model, instance }: BenchFixture, { keyHashes }: BenchWallet, n: number): AdmitItem {
  return {
    op: 'admit',
    id: mintId('inv', Date.now(), tenRandomBytes()),
    instance,
    keyHash: keyHashes[n % keyHashes.length]!,
    selector: null,
    model,
    parameters: [],
    promptSize: { bytes: 130, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 50 },
    idempotency: null,
  }
}

/** The same with an idempotency key. */
export function keyedAdmission(fixture: BenchFixture, wallet: BenchWallet, n: number): AdmitItem {
  const item = admission(fixture, wallet, n)
  return { ...item, idempotency: { key: item.id, fingerprint: wallet.keyHashes[0]! } }
}

export function settlement(id: string): SettleItem {
  return { op: 'settle', id, usage: { promptTokens: 30, completionTokens: 40, estimated: false }, answer: null }
}

/** One kernel call serves a few hundred ids, so that generating the load costs little. */
function tenRandomBytes(): Uint8Array {
  if (used + 10 > random.length) {
    randomFillSync(random)
    used = 0
  }
  return random.subarray(used, (used += 10))
}
