import type { LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { objectionToHost, objectionToUrl, publicLookup } from './public-lookup.ts'

const leadsTo = (address: string): LookupFunction =>
  publicLookup((_name, _options, answer) => answer(null, [{ address, family: 4 }]))
const leadsNowhere: LookupFunction = (_name, _options, answer) =>
  answer(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), [])

test.for([
  ['https://hooks.example.com/', leadsTo('93.184.216.34'), null],
  ['http://hooks.example.com/', leadsTo('93.184.216.34'), 'not_https'],
  ['https://hooks.example.com/', leadsTo('10.0.0.7'), 'private'],
  ['https://hooks.example.com/', leadsNowhere, 'unknown_host'],
  ['https://127.0.0.1/', leadsTo('93.184.216.34'), 'private'],
  ['https://[::1]/', leadsTo('93.184.216.34'), 'private'],
  ['https://2130706433/', leadsTo('93.184.216.34'), 'private'],
] as const)('%s is accepted or rejected by scheme and address', async ([url, lookup, objection]) => {
  expect(objectionToUrl(url, false) ?? (await objectionToHost(url, lookup))).toBe(objection)
})

test('any address is accepted if the operator allows private addresses', () => {
  expect(objectionToUrl('http://127.0.0.1/', true)).toBeNull()
})
