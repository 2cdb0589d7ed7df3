import { expect, test } from 'vitest'
import { databaseOf, describeUrl, withAddress, withDatabase, withLogin } from './client.ts'

const url = 'postgresql://owner:s%2Fcret@db.example:6432/svc?sslmode=require'

test('replaces the database, login or address of a URL and keeps the rest', () => {
  expect(withDatabase(url, 'other')).toBe('postgresql://owner:s%2Fcret@db.example:6432/other?sslmode=require')
  expect(withLogin(url, 'led ger', 'a@b')).toBe('postgresql://led%20ger:a%40b@db.example:6432/svc?sslmode=require')
  expect(withAddress(url, { host: '127.0.0.1', port: 5 })).toBe(
    'postgresql://owner:s%2Fcret@127.0.0.1:5/svc?sslmode=require',
  )
})

test('databaseOf defaults to the name of the user', () => {
  expect(databaseOf(url)).toBe('svc')
  expect(databaseOf('postgresql://owner@db.example')).toBe('owner')
})

test('describeUrl leaves out the password', () => {
  expect(describeUrl(url)).toBe('owner@db.example:6432/svc')
})
