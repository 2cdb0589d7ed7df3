import { expect, test } from 'vitest'
import { callIdOf } from './chat-port.ts'

test.each(['call_9pw1qnYScqvGrCH58HWCvFH6', 'D681PevKs'])('keeps %s, which reveals no provider', (id) => {
  expect(callIdOf(id)).toBe(id)
})

test.each(['toolu_01A09q90qw90lq917835lq9', 'chatcmpl-tool-1f0e', 'functions.look_up:0', 'call_acme-cloud.1', ''])(
  'replaces %s, always with the same ID',
  (id) => {
    expect(callIdOf(id)).toMatch(/^call_[0-9a-f]{24}$/)
    expect(callIdOf(id)).toBe(callIdOf(id))
    expect(callIdOf(id)).not.toBe(callIdOf(`${id}x`))
    expect(callIdOf(callIdOf(id))).toBe(callIdOf(id))
  },
)
