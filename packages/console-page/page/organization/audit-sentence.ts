import type { AuditRecord } from '@gateway/api/console/people'
import { usd } from '../pure/usd.ts'

type NameOf = (id: string) => string
interface Entry {
  /** Of what it was done to. */
  subject: string
  /** A field of the details, as text; a name where it is an id that has one. */
  the(field: string): string
  has(field: string): boolean
  money(field: string): string
}
type Sentence = (entry: Entry) => string

/** What somebody did, as a sentence that begins after their name. An action that has no words here is told as it is written. */
export function auditSentence({ action, subject, details }: AuditRecord, nameOf: NameOf): string {
  const sentence = sentences[action]
  const has = (field: string) => details[field] !== undefined && details[field] !== null
  const the = (field: string) => (has(field) ? nameOf(textOf(details[field])) : '')
  const money = (field: string) => usd(Number(details[field] ?? 0))
  // Of a wallet it is "project/booking".
  const name = nameOf(subject.startsWith('prj_') ? subject.split('/')[0]! : subject)
  return sentence ? sentence({ subject: name, the, has, money }) : `did ${action} to ${name}`
}

/** Every action that the audit of an organization knows, as its filter names it. */
export const actionWords: Readonly<Record<string, string>> = {
  'member.set': 'added a member, or changed their role',
  'member.remove': 'removed a member',
  'team.create': 'created a team',
  'team.delete': 'deleted a team',
  'team-member.set': 'put somebody into a team',
  'team-member.remove': 'took somebody out of a team',
  'project.create': 'created a project',
  'project.change': 'changed a project',
  'project.delete': 'deleted a project',
  'grant.set': 'gave a role on a project',
  'grant.remove': 'withdrew a role on a project',
  'product.assign': 'assigned a product',
  'product.unassign': 'withdrew a product',
  'key.create': 'created a key',
  'key.rotate': 'rotated a key',
  'key.revoke': 'revoked a key',
  'access-token.create': 'made a token for programs',
  'access-token.delete': 'deleted a token for programs',
  'sandbox.create': 'created a flow',
  'sandbox.change': 'changed a flow',
  'revision.save': 'saved a revision',
  'revision.activate': 'activated a revision',
  'sandbox.execution.cancel': 'cancelled an execution',
  'sandbox.execution.rerun': 'ran an execution again',
  'asset.create': 'uploaded an asset',
  'asset.delete': 'deleted an asset',
  'notices.set_thresholds': 'changed what is told',
  'webhook.create': 'made a webhook',
  'webhook.delete': 'deleted a webhook',
  'wallet.fund': 'funded a wallet',
  'wallet.correct': 'corrected a wallet',
  'tenant.create': 'created the organization',
}

const sentences: Readonly<Record<string, Sentence>> = {
  'member.set': ({ subject, the, has }) =>
    has('before')
      ? `changed the role of ${subject} from ${the('before')} to ${the('role')}`
      : `added ${subject} to the organization as ${the('role')}`,
  'member.remove': ({ subject }) => `removed ${subject} from the organization`,
  'team.create': ({ the }) => `created the team ${the('name')}`,
  'team.delete': ({ subject }) => `deleted the team ${subject}`,
  'team-member.set': ({ subject, the, has }) =>
    has('before')
      ? `made ${the('person')} ${the('role')} of ${subject}, who was ${the('before')}`
      : `put ${the('person')} into the team ${subject} as ${the('role')}`,
  'team-member.remove': ({ subject, the }) => `took ${the('person')} out of the team ${subject}`,
  'project.create': ({ the }) => `created the project ${the('name')} of the team ${the('team')}`,
  'project.change': ({ subject, the, has }) =>
    has('assetRetentionDays')
      ? `had assets of ${subject} kept for ${the('assetRetentionDays')} days`
      : `had assets of ${subject} kept for ever`,
  'project.delete': ({ subject }) => `deleted the project ${subject}`,
  'grant.set': ({ subject, the, has }) =>
    has('before')
      ? `changed the role of ${the('person')} on ${subject} from ${the('before')} to ${the('role')}`
      : `gave ${the('person')} the role ${the('role')} on ${subject}`,
  'grant.remove': ({ subject, the }) => `withdrew the role of ${the('person')} on ${subject}`,
  'product.assign': ({ subject, the }) => `let ${subject} use ${the('product')}`,
  'product.unassign': ({ subject, the }) => `withdrew ${the('product')} from ${subject}`,
  'key.create': ({ subject, the }) => `created the key ${subject} of ${the('project')}`,
  'key.rotate': ({ subject }) => `rotated the key ${subject}`,
  'key.revoke': ({ subject }) => `revoked the key ${subject}`,
  'access-token.create': ({ the, has }) =>
    `made the token ${the('name')} for programs${has('project') ? ` of ${the('project')}` : ''}`,
  'access-token.delete': ({ subject, the, has }) =>
    `deleted the token ${subject} for programs${has('project') ? ` of ${the('project')}` : ''}`,
  'sandbox.create': ({ subject, the }) => `created the flow ${subject}${the('project') && ` in ${the('project')}`}`,
  'sandbox.change': ({ subject }) => `changed the flow ${subject}`,
  'revision.save': ({ subject, the }) => `saved revision ${the('revision')} of the flow ${subject}`,
  'revision.activate': ({ subject, the }) => `activated revision ${the('revision')} of the flow ${subject}`,
  'sandbox.execution.cancel': ({ subject, the }) =>
    `cancelled the execution ${the('execution')} of the flow ${subject}`,
  'sandbox.execution.rerun': ({ subject, the }) =>
    `ran the execution ${the('rerunOf')} of the flow ${subject} again, as ${the('execution')}`,
  'asset.create': ({ subject }) => `uploaded an asset to ${subject}`,
  'asset.delete': ({ subject }) => `deleted an asset of ${subject}`,
  'notices.set_thresholds': ({ subject }) => `changed what is told of ${subject}`,
  'webhook.create': ({ the }) => `had notices of ${the('project')} posted to a webhook`,
  'webhook.delete': ({ the }) => `deleted a webhook of ${the('project')}`,
  'wallet.fund': ({ subject, money }) => `funded the wallet of ${subject} with ${money('micro')}`,
  'wallet.correct': ({ subject, the, money }) =>
    `corrected the wallet of ${subject} by ${money('micro')}: ${the('reason')}`,
  'tenant.create': ({ the }) => `created the organization ${the('name')}`,
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
