import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newChannelKey } from './sealed-channel.ts'

function openEnds() {
  const [service, ledger] = [newChannelKey(), newChannelKey()]
  return { service: service.agree(ledger.publicKey), ledger: ledger.agree(service.publicKey) }
}

const messages = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 })

test('both ends of a channel agree on the seal of each message', () => {
  const ends = openEnds()
  fc.assert(
    fc.property(messages, (all) => {
      for (const message of all) expect(verifies(ends, ends.service.next(message), message)).toBe(true)
    }),
  )
})

test('a seal is for one message, one position and one channel', () => {
  fc.assert(
    fc.property(messages, fc.string({ minLength: 1 }), (before, message) => {
      const sealed = () => {
        const ends = openEnds()
        for (const one of before) verifies(ends, ends.service.next(one), one)
        return { ends, seal: ends.service.next(message) }
      }
      const [changed, repeated, elsewhere] = [sealed(), sealed(), sealed()]
      expect(verifies(changed.ends, changed.seal, `${message} `)).toBe(false)
      expect(verifies(repeated.ends, repeated.seal, message)).toBe(true)
      expect(verifies(repeated.ends, repeated.seal, message)).toBe(false)
      expect(verifies(elsewhere.ends, changed.seal, message)).toBe(false)
    }),
    { numRuns: 25 },
  )
})

test('who captures the public keys can seal nothing', () => {
  const [service, ledger] = [newChannelKey(), newChannelKey()]
  const seals = ledger.agree(service.publicKey)
  const forged = newChannelKey().agree(ledger.publicKey).next('a message')
  expect(seals.verifies(Buffer.from(forged), Buffer.from('a message'))).toBe(false)
})

test('refuses a text that is not a public key', () => {
  for (const text of ['', 'undefined', 'A'.repeat(43), 'A'.repeat(4_000)])
    expect(() => newChannelKey().agree(text)).toThrow()
})

function verifies({ ledger }: ReturnType<typeof openEnds>, seal: string, message: string): boolean {
  return ledger.verifies(Buffer.from(seal), Buffer.from(message))
}
