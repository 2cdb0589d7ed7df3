import { auditActions } from '@gateway/api/console/audit'
import { expect, test } from 'vitest'
import type { AuditRecord } from '@gateway/api/console/audit'
import { actionLabels, auditSentence } from './audit-sentence.ts'

const names: Record<string, string> = { usr_g: 'Grace', prj_1: 'Summaries', tea_1: 'Search', key_1: 'website' }
const entry: Omit<AuditRecord, 'action' | 'subject' | 'details'> = {
  id: '1',
  at: '',
  tenant: 'ten_1',
  user: 'usr_a',
  userName: 'Ada',
  subjectName: null,
  outcome: 'succeeded',
  requestId: null,
  address: null,
  device: null,
}
const sentence = (action: string, subject: string, details: AuditRecord['details'] = {}) =>
  auditSentence({ ...entry, action, subject, details }, (id) => names[id] ?? id)

test('auditSentence uses names and mentions the previous value', () => {
  expect(sentence('grant.set', 'prj_1', { user: 'usr_g', role: 'Project Owner', before: null })).toBe(
    'granted Grace the role Project Owner on Summaries',
  )
  expect(sentence('grant.set', 'prj_1', { user: 'usr_g', role: 'Project Viewer', before: 'Project Owner' })).toBe(
    'changed the role of Grace on Summaries from Project Owner to Project Viewer',
  )
  expect(sentence('grant.remove', 'prj_1', { user: 'usr_g' })).toBe('removed the role of Grace on Summaries')
  expect(sentence('member.set', 'usr_g', { role: 'Member', before: null })).toBe(
    'added Grace to the organization as Member',
  )
  expect(sentence('key.create', 'key_1', { project: 'prj_1' })).toBe('created the key website in Summaries')
  expect(sentence('key.rename', 'key_1', { name: 'blog', before: 'website' })).toBe('renamed the key website to blog')
  expect(sentence('key.pause', 'key_gone', { name: 'website' })).toBe('paused the key website')
  expect(sentence('team-member.set', 'tea_1', { user: 'usr_g', role: 'Team Member', before: null })).toBe(
    'added Grace to the team Search as Team Member',
  )
  const captured = { retentionDays: 7, hide: [], patterns: [] }
  expect(sentence('project.change', 'prj_1', { capture: captured, before: { capture: null } })).toBe(
    'set how prompts and answers of Summaries are captured',
  )
  expect(sentence('project.change', 'prj_1', { capture: null, before: { capture: captured } })).toBe(
    'turned off the capture of prompts and answers of Summaries',
  )
  expect(sentence('project.change', 'prj_1', { rates: {} })).toBe('set the rate limits of Summaries')
  const given = { user: 'usr_g', role: 'Project Viewer', readsContent: true, before: 'Project Viewer' }
  expect(sentence('grant.set', 'prj_1', given)).toBe(
    'granted Grace the role Project Viewer with captured content on Summaries',
  )
  expect(sentence('project.change', 'prj_1', { assetRetentionDays: null })).toBe(
    'set assets of Summaries to be kept indefinitely',
  )
})

test('a wallet entry names the project and the exact amount', () => {
  expect(sentence('wallet.fund', 'prj_1/f', { micro: 5_000_001 })).toBe('funded the wallet of Summaries with $5.000001')
  expect(sentence('wallet.correct', 'prj_1/c', { micro: -1, reason: 'twice' })).toBe(
    'corrected the wallet of Summaries by −$0.000001: twice',
  )
})

test('a flow has the name that the service gives it', () => {
  const saved = { ...entry, action: 'revision.save', subject: 'sbx-1', subjectName: 'Notes', details: { revision: 2 } }
  expect(auditSentence(saved, (id) => id)).toBe('saved revision 2 of the flow Notes')
})

test('what ended with a personal token names the token', () => {
  const madeWith = 'tok_1'
  expect(sentence('key.revoke', 'key_gone', { madeWith })).toBe(
    'revoked the key key_gone, which the personal token tok_1 made',
  )
  expect(sentence('access-token.delete', 'atk_1', { project: 'prj_1', madeWith })).toBe(
    'deleted the service token atk_1 in Summaries, which the personal token tok_1 made',
  )
  expect(sentence('invitation.revoke', 'ivt_1', { email: 'a@example.test', madeWith })).toBe(
    'revoked the invitation of a@example.test, which the personal token tok_1 made',
  )
})

test('a deleted or unknown subject appears by ID, and an unknown action by its name', () => {
  expect(sentence('key.revoke', 'key_gone')).toBe('revoked the key key_gone')
  expect(sentence('moon.launch', 'prj_1')).toBe('performed moon.launch on Summaries')
})

test('every recorded action has a sentence and is in the filter', () => {
  for (const action of auditActions) expect(sentence(action, 'prj_1')).not.toMatch(/^performed |undefined/)
  expect(Object.keys(actionLabels).toSorted()).toEqual(auditActions.toSorted())
})

test('a failed sign-in has its count', () => {
  const failed = {
    ...entry,
    action: 'session.create',
    subject: 'usr_g',
    outcome: 'refused',
    details: { count: 3 },
  } as const
  expect(auditSentence(failed, (id) => id)).toBe('failed to sign in (3 times in an hour)')
  expect(sentence('session.create', 'ses_1')).toBe('signed in')
})
