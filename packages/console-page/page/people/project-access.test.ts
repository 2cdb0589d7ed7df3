import { expect, test } from 'vitest'
import { hasOwner, issuesKeys, lackForKeys, projectAccess, reasonsFor } from './project-access.ts'

const person = (name: string) => ({ id: `per_${name}`, name, email: `${name}@example.test`, createdAt: '' })
const grants = [
  { ...person('Cleo'), role: 'Project Owner' as const },
  { ...person('Bela'), role: 'Project Consumer' as const },
  { ...person('Gone'), role: 'Project Owner' as const },
]
const team = [
  { ...person('Bela'), role: 'Team Member' as const },
  { ...person('Left'), role: 'Team Owner' as const },
]
const members = [
  { ...person('Ada'), role: 'Admin' as const },
  { ...person('Bela'), role: 'Member' as const },
  { ...person('Cleo'), role: 'Member' as const },
  { ...person('Dan'), role: 'Member' as const },
]
const people = projectAccess({ grants, team, members })
const of = (name: string) => people.find((each) => each.name === name)!

test('projectAccess lists each person who can see the project or holds a grant once, sorted by name', () => {
  expect(people.map(({ name }) => name)).toEqual(['Ada', 'Bela', 'Cleo', 'Gone'])
})

test('reasonsFor lists grant, team and organization role', () => {
  expect(reasonsFor(of('Ada'), 'Search')).toEqual(['Organization Admin'])
  expect(reasonsFor(of('Bela'), 'Search')).toEqual(['Direct grant', 'Team Member of Search'])
  expect(reasonsFor(of('Cleo'), 'Search')).toEqual(['Direct grant', 'not in team Search'])
  expect(reasonsFor(of('Gone'), 'Search')[0]).toMatch(/No longer an organization member/)
})

test('lackForKeys names the missing requirement, and only a person with all three can issue keys', () => {
  expect(people.filter(issuesKeys).map(({ name }) => name)).toEqual(['Bela'])
  expect(lackForKeys(of('Bela'), 'Search')).toBeNull()
  expect(lackForKeys(of('Cleo'), 'Search')).toBe('membership in the team Search')
  expect(lackForKeys(of('Ada'), 'Search')).toBe(
    'the Project Owner or Project Consumer role and membership in the team Search',
  )
  expect(lackForKeys(of('Gone'), 'Search')).toBe('organization membership')
})

test('an owner who left the organization does not count as an owner', () => {
  expect(hasOwner(people)).toBe(true)
  expect(hasOwner([of('Gone'), of('Bela')])).toBe(false)
})
