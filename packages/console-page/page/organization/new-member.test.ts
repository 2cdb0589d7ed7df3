import { expect, test } from 'vitest'
import { bodyOfMember, emptyMember } from './new-member.ts'

test('bodyOfMember omits empty fields, and sends only the role with a user ID', () => {
  const draft = { ...emptyMember, email: 'grace@example.test', user: ' usr_1 ' }
  expect(bodyOfMember(draft)).toEqual({ email: 'grace@example.test', role: 'Member' })
  expect(bodyOfMember({ ...draft, name: 'Grace', password: 'long enough for it' })).toEqual({
    email: 'grace@example.test',
    name: 'Grace',
    password: 'long enough for it',
    role: 'Member',
  })
  expect(bodyOfMember({ ...draft, by: 'user', name: 'Grace' })).toEqual({ user: 'usr_1', role: 'Member' })
})
