import type { LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { publicLookup } from './public-lookup.ts'

type Found = { address: string; family: number }[]

const namesLeadTo =
  (found: Found): LookupFunction =>
  (_name, _options, answer) =>
    answer(null, found)

function lookUp(found: Found, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    publicLookup(namesLeadTo(found))('provider.example', { all }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    )
  })
}

const open = { address: '93.184.216.34', family: 4 }
const inside = { address: '10.0.0.7', family: 4 }

test('public addresses are handed on, one or all as asked', async () => {
  expect(await lookUp([open], true)).toEqual([open])
  expect(await lookUp([open], false)).toBe(open.address)
})

test.each([[[inside]], [[open, inside]], [[{ address: '::ffff:127.0.0.1', family: 6 }]], [[]]])(
  'a name with a private address, or none, leads nowhere',
  async (found) => {
    await expect(lookUp(found, true)).rejects.toMatchObject({ code: 'PRIVATE_ADDRESS' })
    await expect(lookUp(found, false)).rejects.toMatchObject({ code: 'PRIVATE_ADDRESS' })
  },
)
