import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { rateNames } from '../keys/rate-fields.tsx'
import { usd } from '../components/usd.ts'

/** Error and how to fix it, in the words of the service if it responded. */
export interface Failed {
  message: string
  resolution: string
  code: string
  requestId: string | null
}

export function failedBy(error: unknown): Failed {
  if (error instanceof ApiRefusal) return namedAsInForms(error)
  if (error instanceof ChangedElsewhere) return changedElsewhere
  return error instanceof Unreachable ? notReached : ofThePage
}

function namedAsInForms({ message, code, requestId, param, again, ...refusal }: ApiRefusal): Failed {
  const resolution = withWait(refusal.resolution, again.afterMs)
  if (param === null) return { message, resolution, code, requestId }
  return { message: inFormWords(message, param), resolution: inFormWords(resolution, param), code, requestId }
}

/** A resolution that says how long to wait. One that names no wait has that of the header, which is at most 30 s. */
function withWait(resolution: string, afterMs: number | null): string {
  if (afterMs === null || afterMs === 0) return resolution
  const wait = waitInWords(afterMs)
  const said = resolution.replace(/Retry-After seconds|(?<=Retry in )(\d+) seconds/, (_, seconds?: string) =>
    seconds === undefined ? wait : waitInWords(Number(seconds) * 1_000),
  )
  return /Retry-After seconds|Retry in \d/.test(resolution) ? said : `${resolution} Try again in ${wait}.`
}

function waitInWords(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}

/** Error about one field of the request, or null. */
export function faultAt(error: unknown, param: string): string | null {
  return error instanceof ApiRefusal && error.param === param ? inFormWords(error.message, param) : null
}

/** Documentation page of a refusal. Errors of the page itself have none and link to the list of refusals. */
export function refusalAddress(code: string): string {
  return `/docs/refusals/${[notReached, changedElsewhere, ofThePage].some((own) => own.code === code) ? '' : code}`
}

/** Whether the session is missing or has expired. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiRefusal && error.code === 'session_missing'
}

/** Another user changed what a form changes after the form showed it. Nothing was sent. */
export class ChangedElsewhere extends Error {}

const changedElsewhere = {
  message: 'Another user changed this in the meantime.',
  resolution: 'Nothing was saved. Check what is shown now, then try again.',
  code: 'changed_elsewhere',
  requestId: null,
}
const notReached = {
  message: 'The service could not be reached.',
  resolution: 'Check the connection and try again.',
  code: 'not_reached',
  requestId: null,
}
const ofThePage = {
  message: 'This part of the page failed to load.',
  resolution: 'Load the page again.',
  code: 'page_error',
  requestId: null,
}

// Errors about a field of a request name it by its API path, and amounts are in micro-USD. Forms show both as users
// see them: the label of the field, and dollars.

const CORRECT = 'Correct '

const labels: Record<string, string | undefined> = {
  ...rateNames,
  assetRetentionDays: 'Delete assets after (days)',
  belowMicro: 'Balance below (USD)',
  contextLength: 'Context window (tokens)',
  correctionId: 'Correction ID',
  current: 'Current password',
  daysLeft: 'Runway below (days)',
  description: 'Description',
  email: 'Email',
  expiresInDays: 'Expires in (days)',
  fundingId: 'Funding ID',
  keyPercents: 'Key spend alert (% of limit)',
  'limit.micro': 'Spending limit (USD)',
  maxMicro: 'Max cost (USD)',
  maxOutputBytes: 'Max output bytes',
  maxOutputTokens: 'Max output tokens',
  micro: 'Amount (USD)',
  name: 'Name',
  'overheads.factor': 'Reservation factor',
  'overheads.maxTokensPerImage': 'Max tokens per image',
  ownedBy: 'Publisher',
  password: 'Password',
  reason: 'Reason',
  resources: 'Products',
  supportedParameters: 'Parameters',
  url: 'Endpoint URL',
}

/**
 * Message or resolution of an error about a field, with the field named by its label and amounts in dollars. Unchanged
 * if no form has the field.
 */
export function inFormWords(text: string, param: string): string {
  const field = param.replace(/^rates\./, '').replace(/\.\d+$/, '')
  const label = labels[field]
  const start = text.startsWith(CORRECT) ? CORRECT.length : 0
  if (label === undefined || !text.startsWith(param, start)) return text
  const rest = text.slice(start + param.length)
  return text.slice(0, start) + label + (/micro$/i.test(field) ? inDollars(rest) : rest)
}

function inDollars(text: string): string {
  return text.replaceAll(/-?\d+/g, (micro) => usd(Number(micro)))
}
