import { composeInvocation, type StoredCall } from '@gateway/ledger-protocol/compose-invocation'
import { timeOfId } from '@gateway/api/ids'
import type { InvocationAnswer, InvocationQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Deps } from '../deps.ts'
import { readCaller, type Caller } from '../keys/read-caller.ts'

/**
 * Returns a call of the key or of one of its lineage, as of its newest attempt. Another key's call is refused as if it
 * did not exist (rules §2.5).
 */
export async function readInvocation(
  deps: Pick<Deps, 'reads'>,
  { invocation, ...question }: InvocationQuestion,
): Promise<InvocationAnswer> {
  const caller = await readCaller(deps, question)
  if ('refused' in caller) return caller
  const call = (await openCall(deps, caller, invocation)) ?? (await closedCall(deps, caller, invocation))
  if (call === null) return absent(deps, invocation)
  return { record: composeInvocation({ ...call, unit: await unitOf(deps, call.product) }) }
}

type Found = Omit<StoredCall, 'unit'> | null

const NO_COUNTS = {
  promptTokens: null,
  completionTokens: null,
  cachedTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
}

/** The running attempt. Attempts that ended before it no longer matter. */
async function openCall(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { project, lineage }: Caller,
  invocation: string,
): Promise<Found> {
  const call = await prisma.reservation.findFirst({ where: { project, lineage, invocation } })
  if (!call) return null
  const open = { state: 'Open', estimated: false, reservedMicro: call.micro, chargedMicro: 0n } as const
  return { ...call, ...NO_COUNTS, ...open, closedAt: null, reason: null, firstTokenMs: null, tries: null }
}

/** The newest ended attempt. */
async function closedCall(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { project, lineage }: Caller,
  invocation: string,
): Promise<Found> {
  // Later attempts have a separate index, which only a query that says so in its text can use.
  const [newest] = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.attempts WHERE id = ${invocation} OR (invocation = ${invocation} AND attempt > 1)
     ORDER BY attempt DESC LIMIT 1`
  const call = newest && (await prisma.attempt.findFirst({ where: { id: newest.id, invocation, project, lineage } }))
  if (!call) return null
  const { key, product, state, admittedAt } = call
  return {
    ...call,
    key: key!, // null only for tombstones, which have no project
    product: product!,
    admittedAt: admittedAt!,
    state: state as StoredCall['state'],
  }
}

async function unitOf({ reads: { prisma } }: Pick<Deps, 'reads'>, id: string): Promise<string> {
  const product = await prisma.product.findUnique({ where: { id }, select: { unit: true } })
  return product?.unit ?? 'tokens'
}

/** Refuses an id that was not found. Its month may be archived. */
async function absent({ reads: { prisma } }: Pick<Deps, 'reads'>, invocation: string): Promise<Refused> {
  const month = timeOfId(invocation)?.toISOString().slice(0, 7)
  const archive = month && (await prisma.archive.findFirst({ where: { attempts: { has: new Date(`${month}-01`) } } }))
  return archive ? refused('invocation_archived', { month }) : refused('invocation_not_found', { invocation })
}
