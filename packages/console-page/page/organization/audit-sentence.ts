import type { AuditAction, AuditRecord } from '@gateway/api/console/audit'
import { usd } from '../components/usd.ts'

type NameOf = (id: string) => string
interface Entry {
  /** Name of the target. */
  subject: string
  /** A field of the details as text, with known IDs replaced by names. */
  the(field: string): string
  isRefused: boolean
  has(field: string): boolean
  /** Whether the details have the field, also with null. */
  names(field: string): boolean
  money(field: string): string
}
type Sentence = (entry: Entry) => string

/** What a user did, as a sentence that follows their name. An unknown action appears by its name. */
export function auditSentence({ action, subject, subjectName, details, outcome }: AuditRecord, nameOf: NameOf): string {
  const sentence = action in sentences ? sentences[action as AuditAction] : null
  const names = (field: string) => field in details
  const has = (field: string) => details[field] !== undefined && details[field] !== null
  const the = (field: string) => (has(field) ? nameOf(textOf(details[field])) : '')
  const money = (field: string) => usd(Number(details[field] ?? 0))
  // The subject of a wallet entry is "project/booking".
  const name = subjectName ?? nameOf(subject.startsWith('prj_') ? subject.split('/')[0]! : subject)
  return sentence
    ? sentence({ subject: name, the, has, names, money, isRefused: outcome === 'refused' })
    : `performed ${action} on ${name}`
}

/** Filter labels of the actions in an audit log. */
export const actionLabels: Readonly<Record<AuditAction, string>> = {
  'session.create': 'signed in, or failed to',
  'session.delete': 'signed out',
  'session.leak': 'reported a leaked session',
  'token.create': 'created a personal token',
  'token.delete': 'deleted a personal token',
  'token.leak': 'reported a leaked personal token',
  'password.set': 'set a password',
  'password.reset-link': 'created a link to reset a password',
  'password.reset': 'reset a password',
  'second-factor.set': 'set up a second factor',
  'second-factor.remove': 'removed a second factor',
  'second-factor.reset': 'reset the second factor of a user',
  'second-factor.refuse': 'entered a wrong code',
  'recovery-codes.set': 'created recovery codes',
  'recovery-codes.use': 'signed in with a recovery code',
  'user.sign-out': 'signed out everywhere',
  'user.disable': 'disabled a user',
  'user.enable': 'enabled a user',
  'identity.link': 'linked a sign-in provider',
  'audit.export': 'exported the audit log',
  'usage.export': 'exported usage',
  'statement.export': 'exported a statement',
  'owner.appoint': 'appointed a project owner',
  'owner.object': 'objected to a project owner',
  'owner.withdraw': 'canceled an appointment',
  'owner.lapse': 'could not appoint a project owner',
  'member.set': 'added or changed a member',
  'member.remove': 'removed a member',
  'member.suspend': 'suspended a member',
  'member.resume': 'resumed a member',
  'invitation.create': 'invited a user',
  'invitation.resend': 'sent an invitation again',
  'invitation.revoke': 'revoked an invitation',
  'invitation.accept': 'accepted an invitation',
  'team.create': 'created a team',
  'team.delete': 'deleted a team',
  'team-member.set': 'added or changed a team member',
  'team-member.remove': 'removed a team member',
  'project.create': 'created a project',
  'project.change': 'changed a project',
  'project.quotas': 'changed the quotas of a project',
  'content.read': 'read a captured prompt and answer',
  'project.delete': 'deleted a project',
  'grant.set': 'granted a role on a project',
  'grant.remove': 'removed a role on a project',
  'product.assign': 'assigned a product',
  'product.unassign': 'unassigned a product',
  'key.create': 'created a key',
  'key.rename': 'renamed a key',
  'key.pause': 'paused a key',
  'key.resume': 'resumed a key',
  'key.rotate': 'rotated a key',
  'key.revoke': 'revoked a key',
  'key.leak': 'reported a leaked key',
  'access-token.create': 'created a service token',
  'access-token.delete': 'deleted a service token',
  'access-token.leak': 'reported a leaked service token',
  'sandbox.create': 'created a flow',
  'sandbox.change': 'changed a flow',
  'revision.save': 'saved a revision',
  'revision.activate': 'activated a revision',
  'sandbox.execution.cancel': 'canceled an execution',
  'sandbox.execution.rerun': 'reran an execution',
  'asset.create': 'uploaded an asset',
  'asset.delete': 'deleted an asset',
  'notices.set_thresholds': 'changed alert rules',
  'budget.set': 'set a budget',
  'budget.remove': 'removed a budget',
  'webhook.create': 'added a webhook',
  'webhook.delete': 'deleted a webhook',
  'webhook.rotate': 'rotated the secret of a webhook',
  'webhook.test': 'sent a test alert to a webhook',
  'webhook.resend': 'resent an alert to a webhook',
  'wallet.fund': 'funded a wallet',
  'wallet.correct': 'corrected a wallet',
  'tenant.create': 'created the organization',
  'tenant.change': 'changed the organization',
  'tenant.delete': 'deleted the organization',
  'operator.first': 'became the first operator',
  'operator.add': 'added an operator',
  'operator.remove': 'removed an operator',
  'product.create': 'created a product',
  'product.change': 'changed a product',
  'product.factor': 'raised the reservation factor of a product',
  'provider.test': 'tested a provider',
}

const sentences: Readonly<Record<AuditAction, Sentence>> = {
  'session.create': ({ the, isRefused }) =>
    isRefused ? `failed to sign in (${the('count')} times in an hour)` : 'signed in',
  'session.delete': () => 'signed out',
  'session.leak': (entry) => `reported a session as leaked${atLocation(entry)}`,
  'token.create': ({ subject }) => `created the personal token ${subject}`,
  'token.delete': ({ subject }) => `deleted the personal token ${subject}`,
  'token.leak': (entry) => `reported the personal token ${entry.subject} as leaked${atLocation(entry)}`,
  'password.set': () => 'set a password',
  'password.reset-link': ({ subject }) => `created a link to reset the password of ${subject}`,
  'password.reset': ({ the }) =>
    `reset their password with a link ${the('by') === 'mail' ? 'sent by mail' : 'from an operator'}`,
  'second-factor.set': () => 'set up a second factor',
  'second-factor.remove': () => 'removed their second factor',
  'second-factor.reset': ({ subject }) => `reset the second factor of ${subject}`,
  'second-factor.refuse': ({ the }) => `entered a wrong code of their second factor (${the('failures')} in a row)`,
  'recovery-codes.set': () => 'created new recovery codes',
  'recovery-codes.use': ({ the }) => `signed in with a recovery code (${the('left')} left)`,
  'user.sign-out': () => 'signed out everywhere',
  'user.disable': ({ subject }) => `disabled the user ${subject}`,
  'user.enable': ({ subject }) => `enabled the user ${subject}`,
  'identity.link': () => 'linked a sign-in provider',
  'audit.export': ({ the }) => `exported the audit log as ${the('format')}`,
  'usage.export': ({ subject }) => `exported the usage of ${subject}`,
  'statement.export': ({ subject }) => `exported a statement of ${subject}`,
  'owner.appoint': ({ subject, the }) =>
    `appointed ${the('user')} as owner of ${subject}, from ${the('effectiveAt')} on`,
  'owner.object': ({ subject, the }) => `objected to ${the('user')} as owner of ${subject}`,
  'owner.withdraw': ({ subject, the }) => `canceled the appointment of ${the('user')} as owner of ${subject}`,
  'owner.lapse': ({ subject, the }) => `could no longer appoint ${the('user')} as owner of ${subject}`,
  'member.set': ({ subject, the, has }) =>
    has('before')
      ? `changed the role of ${subject} from ${the('before')} to ${the('role')}`
      : `added ${subject} to the organization as ${the('role')}`,
  'member.remove': ({ subject }) => `removed ${subject} from the organization`,
  'member.suspend': ({ subject }) => `suspended ${subject} in the organization`,
  'member.resume': ({ subject }) => `resumed ${subject} in the organization`,
  'invitation.create': ({ the }) => `invited ${the('email')} as ${the('role')}`,
  'invitation.resend': ({ the }) => `sent the invitation of ${the('email')} again`,
  'invitation.revoke': (entry) => `revoked the invitation of ${entry.the('email')}${withToken(entry)}`,
  'invitation.accept': ({ the }) => `accepted an invitation as ${the('role')}`,
  'team.create': ({ the }) => `created the team ${the('name')}`,
  'team.delete': ({ subject }) => `deleted the team ${subject}`,
  'team-member.set': ({ subject, the, has }) =>
    has('before')
      ? `changed the role of ${the('user')} in the team ${subject} from ${the('before')} to ${the('role')}`
      : `added ${the('user')} to the team ${subject} as ${the('role')}`,
  'team-member.remove': ({ subject, the }) => `removed ${the('user')} from the team ${subject}`,
  'project.create': ({ the }) => `created the project ${the('name')} in the team ${the('team')}`,
  'project.change': ({ subject, the, has, names }) => {
    if (has('keySelfRotation'))
      return `${the('keySelfRotation') === 'true' ? 'allowed' : 'forbade'} keys of ${subject} to rotate themselves`
    if (names('capture'))
      return has('capture')
        ? `set how prompts and answers of ${subject} are captured`
        : `turned off the capture of prompts and answers of ${subject}`
    if (names('rates')) return `set the rate limits of ${subject}`
    return has('assetRetentionDays')
      ? `set assets of ${subject} to be deleted after ${the('assetRetentionDays')} days`
      : `set assets of ${subject} to be kept indefinitely`
  },
  'content.read': () => 'read the captured prompt and answer of a call',
  'project.quotas': ({ subject }) => `changed the quotas of ${subject}`,
  'project.delete': ({ subject }) => `deleted the project ${subject}`,
  'grant.set': ({ subject, the, has, names }) => {
    const content = names('readsContent')
      ? `${the('readsContent') === 'true' ? ' with' : ' without'} captured content`
      : ''
    const role = the('role') + content
    return has('before') && the('before') !== the('role')
      ? `changed the role of ${the('user')} on ${subject} from ${the('before')} to ${role}`
      : `granted ${the('user')} the role ${role} on ${subject}`
  },
  'grant.remove': ({ subject, the }) => `removed the role of ${the('user')} on ${subject}`,
  'product.assign': ({ subject, the }) => `assigned ${the('product')} to ${subject}`,
  'product.unassign': ({ subject, the }) => `unassigned ${the('product')} from ${subject}`,
  'key.create': ({ subject, the }) => `created the key ${subject} in ${the('project')}`,
  'key.rename': ({ the }) => `renamed the key ${the('before')} to ${the('name')}`,
  'key.pause': ({ the }) => `paused the key ${the('name')}`,
  'key.resume': ({ the }) => `resumed the key ${the('name')}`,
  'key.rotate': ({ subject }) => `rotated the key ${subject}`,
  'key.revoke': (entry) => `revoked the key ${entry.subject}${withToken(entry)}`,
  'key.leak': (entry) => `reported the key ${entry.subject} as leaked${atLocation(entry)}`,
  'access-token.create': ({ the, has }) =>
    `created the service token ${the('name')}${has('project') ? ` in ${the('project')}` : ''}`,
  'access-token.delete': (entry) =>
    `deleted the service token ${entry.subject}${entry.has('project') ? ` in ${entry.the('project')}` : ''}${withToken(entry)}`,
  'access-token.leak': (entry) => `reported the service token ${entry.the('name')} as leaked${atLocation(entry)}`,
  'sandbox.create': ({ subject, the }) => `created the flow ${subject}${the('project') && ` in ${the('project')}`}`,
  'sandbox.change': ({ subject }) => `changed the flow ${subject}`,
  'revision.save': ({ subject, the }) => `saved revision ${the('revision')} of the flow ${subject}`,
  'revision.activate': ({ subject, the }) => `activated revision ${the('revision')} of the flow ${subject}`,
  'sandbox.execution.cancel': ({ subject, the }) => `canceled the execution ${the('execution')} of the flow ${subject}`,
  'sandbox.execution.rerun': ({ subject, the }) =>
    `reran the execution ${the('rerunOf')} of the flow ${subject} as ${the('execution')}`,
  'asset.create': ({ subject }) => `uploaded an asset to ${subject}`,
  'asset.delete': ({ subject }) => `deleted an asset from ${subject}`,
  'notices.set_thresholds': ({ subject }) => `changed the alert rules of ${subject}`,
  'budget.set': ({ the, money }) =>
    `set the monthly budget of the ${the('kind')} ${the('subject')} to ${money('limitMicro')}`,
  'budget.remove': ({ the }) => `removed the monthly budget of the ${the('kind')} ${the('subject')}`,
  'webhook.create': ({ the }) => `added a webhook to ${the('project')}`,
  'webhook.delete': ({ the }) => `deleted a webhook from ${the('project')}`,
  'webhook.rotate': ({ the }) => `rotated the secret of a webhook of ${the('project')}`,
  'webhook.test': ({ the }) => `sent a test alert to a webhook of ${the('project')}`,
  'webhook.resend': ({ the }) => `resent an alert to a webhook of ${the('project')}`,
  'wallet.fund': ({ subject, money }) => `funded the wallet of ${subject} with ${money('micro')}`,
  'wallet.correct': ({ subject, the, money }) =>
    `corrected the wallet of ${subject} by ${money('micro')}: ${the('reason')}`,
  'tenant.create': ({ the }) => `created the organization ${the('name')}`,
  'tenant.change': ({ the }) =>
    the('requireSecondFactor') === 'true'
      ? 'required a second factor of all members'
      : 'no longer required a second factor of members',
  'tenant.delete': ({ subject }) => `deleted the organization ${subject}`,
  'operator.first': ({ subject }) => `made ${subject} the first operator`,
  'operator.add': ({ subject }) => `made ${subject} an operator`,
  'operator.remove': ({ subject }) => `removed ${subject} as operator`,
  'product.create': ({ subject }) => `created the product ${subject}`,
  'product.change': ({ subject }) => `changed the product ${subject}`,
  'product.factor': ({ subject, the }) =>
    `raised the reservation factor of ${subject} from ${the('before')} to ${the('after')}`,
  'provider.test': ({ subject, the }) => `tested the provider ${subject} with ${the('product')}`,
}

/** Names the personal token that ended, of what ended with it. */
function withToken({ has, the }: Pick<Entry, 'has' | 'the'>): string {
  return has('madeWith') ? `, which the personal token ${the('madeWith')} made` : ''
}

/** Where a leaked secret was found. */
function atLocation({ has, the }: Pick<Entry, 'has' | 'the'>): string {
  return has('location') ? `: ${the('location')}` : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
