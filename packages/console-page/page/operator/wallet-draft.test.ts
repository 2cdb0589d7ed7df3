import { correctionBody, fundingBody } from '@gateway/api/console/money'
import { expect, test } from 'vitest'
import { moneyView } from './operator-views.ts'
import { emptyWalletDraft, microOfDraft } from './wallet-draft.ts'

test('microOfDraft returns signed micro-USD, or null for zero and invalid amounts', () => {
  const micro = (amount: string, isOut = false) => microOfDraft({ amount, isOut })
  expect([micro('5'), micro('0.000001'), micro('$1.5', true)]).toEqual([5_000_000, 1, -1_500_000])
  expect([micro('0'), micro('-1'), micro('0.0000001'), micro('')]).toEqual([null, null, null, null])
})

test('every new draft has a unique ID that the API accepts', () => {
  const [one, other] = [emptyWalletDraft('funding'), emptyWalletDraft('correction')]
  expect(one.id).not.toBe(emptyWalletDraft('funding').id)
  expect(fundingBody.safeParse({ fundingId: one.id, micro: 1 }).success).toBe(true)
  expect(correctionBody.safeParse({ correctionId: other.id, micro: -1, reason: 'so' }).success).toBe(true)
})

test('moneyView keeps an organization and a project and drops the rest', () => {
  expect(moneyView({ tenant: 'ten_1', project: 'prj_1' })).toEqual({ tenant: 'ten_1', project: 'prj_1' })
  expect(moneyView({ tenant: 1, project: '', sum: 3 })).toEqual({})
})
