import { expect, test } from 'vitest'
import { signNotice } from './deliveries.ts'

test('signs a notice as the Standard Webhooks specification requires', () => {
  const body = '{"event_type":"ping","data":{"success":true}}'
  const ofNotice = { id: 'msg_loFOjxBNrRLzqYUf', body, nowMs: 1_731_705_121_900 }
  expect(signNotice(['whsec_plJ3nmyCDGBKInavdOK15jsl'], ofNotice)).toEqual({
    'webhook-id': 'msg_loFOjxBNrRLzqYUf',
    'webhook-timestamp': '1731705121',
    'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  })
})
