import type { OutcomeOf } from '@gateway/ledger-protocol/ledger-items'
import type { PriceSnapshot } from '@gateway/pricing/usage'
import { settleAndAnswer, openReservation } from './call-provider.ts'
import { describe, expect, test } from 'vitest'

const USAGE = { promptTokens: 30, completionTokens: 10, estimated: false }
const PRICE: PriceSnapshot = ['2000000', '8000000', '0', null, null, null]

/** Settles a call with this outcome. Returns the response that is sent and the one that was saved. */
async function answered(outcome: OutcomeOf<'settle'> | Error, price: PriceSnapshot | undefined, reservedMicro = 1_000) {
  const saved: unknown[] = []
  const route = { provider: 'simulated', model: 'sim' }
  const deps = {
    ledger: {
      settle: async ({ answer }: { answer: { body: string } }) => {
        saved.push(answer.body)
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    },
    openCalls: { track: async <T>(work: Promise<T>) => work },
    notifier: { notify: () => {} },
    metrics: { closed: () => {} },
    log: { warn: () => {}, error: () => {} },
  } as unknown as Parameters<typeof settleAndAnswer>[0]
  const place = { headers: {}, undo() {}, settle() {} }
  const prices = price && { price }
  const admitted = { reservation: 'inv_1', invocation: 'inv_1', place, reservedMicro, routes: [route], ...prices }
  const call = { admitted, reservation: openReservation(admitted, true) } as unknown as Parameters<
    typeof settleAndAnswer
  >[1]
  const sent = await settleAndAnswer(
    deps,
    call,
    { usage: USAGE, route },
    {
      write: (chargedMicro) => `cost ${chargedMicro}`,
      save: (body) => ({ contentType: 'text/plain', body }),
    },
  )
  return { sent, saved: saved[0] }
}

describe('the cost in a response', () => {
  test('is the amount the settlement charged, in the saved response too', async () => {
    expect(await answered({ kind: 'settled', chargedMicro: 140 }, PRICE)).toEqual({
      sent: 'cost 140',
      saved: 'cost 140',
    })
  })

  test('is the reserved amount if the usage costs more', async () => {
    expect(await answered({ kind: 'settled', chargedMicro: 99 }, PRICE, 99)).toEqual({
      sent: 'cost 99',
      saved: 'cost 99',
    })
  })

  test.for([['fenced'], ['unknown']] as const)('is 0 if the settlement is %s and charges nothing', async ([kind]) => {
    expect((await answered({ kind }, PRICE)).sent).toBe('cost 0')
  })

  test('is the amount the settlement will charge if it is not recorded yet, so that a replay is identical', async () => {
    const answer = { sent: 'cost 140', saved: 'cost 140' }
    expect(await answered({ kind: 'quarantined' }, PRICE)).toEqual(answer)
    expect(await answered(new Error('no ledger'), PRICE)).toEqual(answer)
  })

  test('is left out if an older ledger admitted the call without prices, in the saved response too', async () => {
    const answer = await answered({ kind: 'settled', chargedMicro: 140 }, undefined)
    expect(answer).toEqual({ sent: 'cost null', saved: 'cost null' })
  })
})
