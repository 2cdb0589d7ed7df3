import { propagation } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { activeCarrier } from './spans.ts'

test('a context that is sent on or stored is without the tracestate of its caller', () => {
  onTestFinished(() => propagation.disable())
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  propagation.setGlobalPropagator({
    inject: (_, carrier: object) => void Object.assign(carrier, { traceparent, tracestate: 'vendor=a pasted key' }),
    extract: (context) => context,
    fields: () => [],
  })
  expect(activeCarrier()).toEqual({ traceparent })
})
