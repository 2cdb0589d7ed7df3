import { expect, test } from 'vitest'
import { isPrivateAddress } from './public-lookup.ts'

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '::1',
  '::',
  'fe80::1',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '[::ffff:10.0.0.1]',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  'ff02::1',
  'fec0::1',
])('%s is a private address', (address) => expect(isPrivateAddress(address)).toBe(true))

test.each([
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '[2a00:1450:4001::1]',
  'localhost',
  'example.com',
])('%s is not a private address', (host) => expect(isPrivateAddress(host)).toBe(false))
