import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyBook, foldJournal, type Entry } from './fold-journal.ts'

const windowStart = new Date('2026-11-01T00:00:00Z')

/**
 * Builds a journal as the ledger writes it: one funding, then alternating blocks of reservations and settlements with
 * these numbers of entries.
 */
function journalOf(blocks: number[]): Entry[] {
  const entries: Entry[] = []
  let seal = Buffer.alloc(0)
  const add = (kind: Entry['kind'], reserved: bigint, settled: bigint, outside: bigint): Entry => {
    const entry: Entry = {
      seq: BigInt(entries.length + 1),
      at: windowStart,
      kind,
      reference: `r${entries.length}`,
      available: -reserved - settled - outside,
      reserved,
      settled,
      outside,
      seal: null,
      funding_micro: kind === 'fund' ? -outside : null,
      correction_micro: kind === 'correct' ? -outside : null,
      state: kind === 'settle' ? 'Settled' : null,
      reserved_micro: kind === 'fund' ? null : kind === 'settle' ? -reserved : reserved,
      charged_micro: kind === 'settle' ? settled : null,
      budgets: [],
      lineage: kind === 'settle' ? 'key_1' : null,
      window_start: kind === 'settle' ? windowStart : null,
      prompt_tokens: kind === 'settle' ? 0n : null,
      completion_tokens: kind === 'settle' ? 7n : null,
      prompt_pico: kind === 'settle' ? 0n : null,
      completion_pico: kind === 'settle' ? 1_000_000n : null,
      request_pico: kind === 'settle' ? 0n : null,
      cached_tokens: null,
      reasoning_tokens: null,
      cache_write_tokens: null,
      cached_pico: null,
      reasoning_pico: null,
      cache_write_pico: null,
      ceiling_micro: null,
      execution_micro: null,
    }
    entries.push(entry)
    return entry
  }
  const close = (block: Entry[]) => {
    const text = block
      .map((e) => `${e.seq} ${e.kind} ${e.reference} ${e.reserved} ${e.settled} ${-e.outside}`)
      .join('\n')
    seal = createHash('sha256').update(seal).update(text).digest()
    block.at(-1)!.seal = seal
  }
  close([add('fund', 0n, 0n, -1_000_000n)])
  for (const [n, size] of blocks.entries())
    close(Array.from({ length: size }, () => (n % 2 ? add('settle', -10n, 7n, 0n) : add('reserve', 10n, 0n, 0n))))
  return entries
}

describe('foldJournal', () => {
  test('adds up to the same totals wherever its steps end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 12 }),
        fc.integer({ min: 6, max: 20 }),
        (blocks, step) => {
          const entries = journalOf(blocks)
          const whole = foldJournal(emptyBook, entries)
          let at = emptyBook
          let spent = 0n
          for (;;) {
            const some = entries.filter(({ seq }) => seq > at.seq).slice(0, step)
            const part = foldJournal(at, some)
            expect(part.findings).toEqual([])
            for (const { micro } of part.spent.values()) spent += micro
            at = part.to
            if (some.length < step) break
          }
          expect(at).toEqual(whole.to)
          expect(spent).toBe([...whole.spent.values()].reduce((sum, { micro }) => sum + micro, 0n))
        },
      ),
    )
  })

  test('leaves entries after the last seal for the next step', () => {
    const entries = journalOf([2, 2])
    const { to, spent, findings } = foldJournal(emptyBook, entries.slice(0, 4)) // in the middle of the settlements
    expect([to.seq, spent.size, findings]).toEqual([3n, 0, []])
  })

  test('derives each charge from usage and price, capped at the reserved amount', () => {
    const entries = journalOf([1, 1])
    const settled = entries.at(-1)!
    const findings = (usage: Partial<Entry>) =>
      foldJournal(emptyBook, entries.with(entries.length - 1, { ...settled, ...usage })).findings.map(
        ({ what, expectedMicro, foundMicro }) => [what, expectedMicro, foundMicro],
      )
    expect(findings({})).toEqual([])
    expect(findings({ completion_tokens: 6n })).toEqual([['the charge differs from the cost of its usage', 6n, 7n]])
    expect(findings({ completion_pico: 1_000_001n })).toEqual([
      ['the charge differs from the cost of its usage', 8n, 7n],
    ])
    expect(findings({ request_pico: 50_000_000n })).toEqual([
      ['the charge differs from the cost of its usage', 10n, 7n],
    ])
  })

  test('reports any entry that was changed after it was sealed', () => {
    const entries = journalOf([3, 3])
    for (const [n, entry] of entries.entries()) {
      const changed = entries.with(n, { ...entry, reference: 'other' })
      expect(foldJournal(emptyBook, changed).findings.map(({ what }) => what)).toContain(
        'the seal does not match its entries',
      )
    }
  })
})
