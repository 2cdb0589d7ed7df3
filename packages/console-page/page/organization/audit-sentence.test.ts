import { expect, test } from 'vitest'
import type { AuditRecord } from '@gateway/api/console/people'
import { actionWords, auditSentence } from './audit-sentence.ts'

const names: Record<string, string> = { per_g: 'Grace', prj_1: 'Summaries', tea_1: 'Search', key_1: 'website' }
const said = (action: string, subject: string, details: AuditRecord['details'] = {}) =>
  auditSentence({ id: '1', at: '', person: 'per_a', action, subject, details }, (id) => names[id] ?? id)

test('an entry is a sentence with names, and says what was there before', () => {
  expect(said('grant.set', 'prj_1', { person: 'per_g', role: 'Project Owner', before: null })).toBe(
    'gave Grace the role Project Owner on Summaries',
  )
  expect(said('grant.set', 'prj_1', { person: 'per_g', role: 'Project Viewer', before: 'Project Owner' })).toBe(
    'changed the role of Grace on Summaries from Project Owner to Project Viewer',
  )
  expect(said('grant.remove', 'prj_1', { person: 'per_g' })).toBe('withdrew the role of Grace on Summaries')
  expect(said('member.set', 'per_g', { role: 'Member', before: null })).toBe(
    'added Grace to the organization as Member',
  )
  expect(said('key.create', 'key_1', { project: 'prj_1' })).toBe('created the key website of Summaries')
  expect(said('team-member.set', 'tea_1', { person: 'per_g', role: 'Team Member', before: null })).toBe(
    'put Grace into the team Search as Team Member',
  )
  expect(said('project.change', 'prj_1', { assetRetentionDays: null })).toBe('had assets of Summaries kept for ever')
})

test('a booking names the project of the wallet, and its amount to the last digit', () => {
  expect(said('wallet.fund', 'prj_1/f', { micro: 5_000_001 })).toBe('funded the wallet of Summaries with $5.000001')
  expect(said('wallet.correct', 'prj_1/c', { micro: -1, reason: 'twice' })).toBe(
    'corrected the wallet of Summaries by −$0.000001: twice',
  )
})

test('what is deleted or not known is told by its id, and an action without words as it is written', () => {
  expect(said('key.revoke', 'key_gone')).toBe('revoked the key key_gone')
  expect(said('moon.launch', 'prj_1')).toBe('did moon.launch to Summaries')
})

test('every action that can be chosen is a sentence', () => {
  for (const action of Object.keys(actionWords)) expect(said(action, 'prj_1')).not.toMatch(/^did /)
})
