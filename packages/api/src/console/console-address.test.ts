import { expect, test } from 'vitest'
import { addressToComeBackTo, isConsoleAddress, MAX_ADDRESS_CHARACTERS } from './console-address.ts'

test.for([
  '/console',
  '/console/',
  '/console?compare=[%22acme/small%22]',
  '/console/projects/ten_1/prj_1/calls?state=Settled&since=day#newest',
  '/console/projects/ten_1/prj_1/calls?next=//evil.example/%2e%2e/%5c',
])('%s is an address of the console', (text) => {
  expect(isConsoleAddress(text)).toBe(true)
})

test.for([
  '',
  'console',
  '//evil.example',
  '//evil.example/console',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/console\t/../x',
  'https://evil.example/console',
  'https:/console',
  'javascript:alert(1)//console',
  '/%2f/evil.example',
  '/%5cevil.example',
  '/consoles',
  '/console.evil.example',
  '/console@evil.example',
  '/console:80',
  '/console\\..\\..\\evil',
  '/console//evil.example',
  '/console/../docs',
  '/console/..',
  '/console/%2e%2e/api/v2/session',
  '/console/.%2E/api',
  '/console/..%2f..%2fapi',
  '/console/%252e%252e/api',
  '/console/%5c..%5c',
  '/console/%00',
  '/console/\r\nSet-Cookie: a=b',
  '/console/ü',
  '/console/ x',
  '/console/"><script>',
  '/console/\uD800',
  `/console/${'a'.repeat(MAX_ADDRESS_CHARACTERS)}`,
])('%j is not an address of the console', (text) => {
  expect(isConsoleAddress(text)).toBe(false)
})

test('returns to the path alone if the address is too long, and to the start if it is not of the console', () => {
  const at = (pathname: string, search: string) => addressToComeBackTo({ pathname, search, hash: '#here' })
  expect([
    at('/console/account', '?tab=2'),
    at('/console/account', `?${'a'.repeat(MAX_ADDRESS_CHARACTERS)}`),
    at('/elsewhere', ''),
  ]).toEqual(['/console/account?tab=2#here', '/console/account', '/console'])
})
