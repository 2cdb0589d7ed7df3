import { expect, test } from 'vitest'
import { databaseOf, describeUrl, withAddress, withDatabase, withLogin } from './database-url.ts'

const url = 'postgresql://owner:s%2Fcret@db.example:6432/svc?sslmode=require'

test('a part of a URL is replaced and the rest stays', () => {
  expect(withDatabase(url, 'other')).toBe('postgresql://owner:s%2Fcret@db.example:6432/other?sslmode=require')
  expect(withLogin(url, 'led ger', 'a@b')).toBe('postgresql://led%20ger:a%40b@db.example:6432/svc?sslmode=require')
  expect(withAddress(url, { host: '127.0.0.1', port: 5 })).toBe(
    'postgresql://owner:s%2Fcret@127.0.0.1:5/svc?sslmode=require',
  )
})

test('the database of a URL without one is that of its user', () => {
  expect(databaseOf(url)).toBe('svc')
  expect(databaseOf('postgresql://owner@db.example')).toBe('owner')
})

test('a URL is described without its password', () => {
  expect(describeUrl(url)).toBe('owner@db.example:6432/svc')
})
