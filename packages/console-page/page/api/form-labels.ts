import { rateNames } from '../keys/rate-fields.tsx'
import { usd } from '../components/usd.ts'

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
