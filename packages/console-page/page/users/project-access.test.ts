import { expect, test } from 'vitest'
import { hasOwner, isLastOwner, issuesKeys, lackForKeys, projectAccess, reasonsFor } from './project-access.ts'

const user = (name: string) => ({ id: `usr_${name}`, name, email: `${name}@example.test`, createdAt: '' })
const grants = [
  { ...user('Cleo'), role: 'Project Owner' as const, readsContent: false },
  { ...user('Bela'), role: 'Project Consumer' as const, readsContent: true },
  { ...user('Eve'), role: 'Project Owner' as const, readsContent: false },
  { ...user('Gone'), role: 'Project Owner' as const, readsContent: false },
]
const team = [
  { ...user('Bela'), role: 'Team Member' as const },
  { ...user('Eve'), role: 'Team Member' as const },
  { ...user('Left'), role: 'Team Owner' as const },
]
const members = [
  { ...user('Ada'), role: 'Admin' as const, suspendedAt: null },
  { ...user('Bela'), role: 'Member' as const, suspendedAt: null },
  { ...user('Cleo'), role: 'Member' as const, suspendedAt: null },
  { ...user('Dan'), role: 'Member' as const, suspendedAt: null },
  { ...user('Eve'), role: 'Member' as const, suspendedAt: '2026-11-20T09:00:00.000Z' },
]
const users = projectAccess({ grants, team, members })
const of = (name: string) => users.find((each) => each.name === name)!

test('projectAccess lists each user who can see the project or holds a grant once, sorted by name', () => {
  expect(users.map(({ name }) => name)).toEqual(['Ada', 'Bela', 'Cleo', 'Eve', 'Gone'])
})

test('a user reads captured content only by a grant that includes it', () => {
  expect(users.filter(({ readsContent }) => readsContent).map(({ name }) => name)).toEqual(['Bela'])
})

test('reasonsFor lists grant, team and organization role', () => {
  expect(reasonsFor(of('Ada'), 'Search')).toEqual(['Organization Admin'])
  expect(reasonsFor(of('Bela'), 'Search')).toEqual(['Direct grant', 'Team Member of Search'])
  expect(reasonsFor(of('Cleo'), 'Search')).toEqual(['Direct grant', 'not in team Search'])
  expect(reasonsFor(of('Eve'), 'Search')).toEqual(['Suspended, so their roles have no effect'])
  expect(reasonsFor(of('Gone'), 'Search')[0]).toMatch(/No longer an organization member/)
})

test('lackForKeys names the missing requirement, and only a user with all three can issue keys', () => {
  expect(users.filter(issuesKeys).map(({ name }) => name)).toEqual(['Bela'])
  expect(lackForKeys(of('Bela'), 'Search')).toBeNull()
  expect(lackForKeys(of('Cleo'), 'Search')).toBe('membership in the team Search')
  expect(lackForKeys(of('Ada'), 'Search')).toBe(
    'the Project Owner or Project Consumer role and membership in the team Search',
  )
  expect(lackForKeys(of('Eve'), 'Search')).toBe('a membership that is not suspended')
  expect(lackForKeys(of('Gone'), 'Search')).toBe('organization membership')
})

test('an owner who left the organization does not count as an owner', () => {
  expect(hasOwner(users)).toBe(true)
  expect(hasOwner([of('Gone'), of('Bela')])).toBe(false)
})

test('a suspended owner still owns the project, and the last active owner is the last owner', () => {
  expect(hasOwner([of('Eve')])).toBe(true)
  expect(isLastOwner(of('Cleo'), users)).toBe(true)
  expect(isLastOwner(of('Eve'), users)).toBe(false)
  expect(isLastOwner(of('Bela'), [of('Bela')])).toBe(false)
})
