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

test('publicLookup returns public addresses, one or all as requested', async () => {
  expect(await lookUp([open], true)).toEqual([open])
  expect(await lookUp([open], false)).toBe(open.address)
})

test.each([[[inside]], [[open, inside]], [[{ address: '::ffff:127.0.0.1', family: 6 }]], [[]]])(
  'publicLookup refuses a name with any private address or without addresses',
  async (found) => {
    await expect(lookUp(found, true)).rejects.toMatchObject({ code: 'PRIVATE_ADDRESS' })
    await expect(lookUp(found, false)).rejects.toMatchObject({ code: 'PRIVATE_ADDRESS' })
  },
)
