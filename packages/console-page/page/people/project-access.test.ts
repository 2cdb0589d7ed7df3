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

test('everybody who sees the project or holds a grant is listed once, by name', () => {
  expect(people.map(({ name }) => name)).toEqual(['Ada', 'Bela', 'Cleo', 'Gone'])
})

test('each is listed with why: grant, team, organization', () => {
  expect(reasonsFor(of('Ada'), 'Search')).toEqual(['Admin of the organization'])
  expect(reasonsFor(of('Bela'), 'Search')).toEqual(['a grant', 'Team Member of Search'])
  expect(reasonsFor(of('Cleo'), 'Search')).toEqual(['a grant', 'not in the team Search'])
  expect(reasonsFor(of('Gone'), 'Search')[0]).toMatch(/no member/)
})

test('who lacks one of the three requirements makes no keys, and is told which', () => {
  expect(people.filter(issuesKeys).map(({ name }) => name)).toEqual(['Bela'])
  expect(lackForKeys(of('Bela'), 'Search')).toBeNull()
  expect(lackForKeys(of('Cleo'), 'Search')).toBe('a place in the team Search')
  expect(lackForKeys(of('Ada'), 'Search')).toBe('Project Owner or Project Consumer, and a place in the team Search')
  expect(lackForKeys(of('Gone'), 'Search')).toBe('a membership')
})

test('an owner who is no member any more is none', () => {
  expect(hasOwner(people)).toBe(true)
  expect(hasOwner([of('Gone'), of('Bela')])).toBe(false)
})
