import { entriesDifference, type Statement } from '@gateway/api/console/statement'

// Composes a statement from bookings. Pure, so it can be tested against any history.

/** UTC days such as 2026-11-20: the first day, and the day after the last. */
export interface Period {
  from: string
  to: string
}

/** Bookings of one kind on one day, in lines of a table for one product and tag. Micro-USD. */
export interface Booking {
  day: string
  kind: 'fund' | 'correct' | 'settle'
  /** Empty except for settlements. */
  product: string
  /** Empty except for settlements of callers that have one. */
  tag: string
  entries: bigint
  /** Amount funded or charged. Negative: debited by a correction. */
  micro: bigint
}

/** Amounts of a wallet, or the sums of all entries in its journal. */
export interface Balances {
  entries: bigint
  funded: bigint
  reserved: bigint
  settled: bigint
}

/** State of wallet, journal and records at one moment. */
export interface Booked {
  asOf: Date
  /** No further bookings can fall into the period. */
  final: boolean
  wallet: Balances
  journal: Balances
  /** Balance at the start of the period. */
  opening: bigint
  /** Ordered by day. */
  bookings: Booking[]
  /** Sums of the funding and correction records in the period. */
  fundings: bigint
  corrections: bigint
  charges: Statement['charges']
  tags: Statement['tags']
  tagCount: number
  check: Statement['check']
  seal: Statement['seal']
}

/** Line of a statement with the balance after it. */
export interface Line extends Booking {
  balance: bigint
}

export function composeStatement(booked: Booked, { from, to }: Period): { statement: Statement; lines: Line[] } {
  const { asOf, final, wallet, opening, bookings, charges, tags, tagCount, check, seal } = booked
  const lines = balanced(opening, bookings)
  const differences = differencesIn(booked)
  const statement: Statement = {
    from,
    to,
    asOf: asOf.toISOString(),
    final,
    openingMicro: Number(opening),
    ...movements(bookings),
    closingMicro: Number(lines.at(-1)?.balance ?? opening),
    charges,
    tags,
    tagCount,
    days: [...Map.groupBy(lines, ({ day }) => day)].map(([day, of]) => ({
      day,
      ...movements(of),
      closingMicro: Number(of.at(-1)!.balance),
    })),
    reservedMicro: Number(wallet.reserved),
    reconciled: differences.length === 0,
    differences,
    check,
    seal,
  }
  return { statement, lines }
}

function balanced(opening: bigint, bookings: Booking[]): Line[] {
  let balance = opening
  return bookings.map((booking) => {
    balance += booking.kind === 'settle' ? -booking.micro : booking.micro
    return { ...booking, balance }
  })
}

function movements(bookings: Booking[]) {
  return {
    fundedMicro: Number(sum(bookings, 'fund')),
    correctedMicro: Number(sum(bookings, 'correct')),
    chargedMicro: Number(sum(bookings, 'settle')),
    calls: bookings.reduce((calls, { kind, entries }) => calls + (kind === 'settle' ? Number(entries) : 0), 0),
  }
}

/** Compares each figure that is stored in two places. */
function differencesIn({ wallet, journal, bookings, fundings, corrections }: Booked): Statement['differences'] {
  const pairs: [what: string, expected: bigint, found: bigint][] = [
    [entriesDifference, journal.entries, wallet.entries],
    ['funded and corrected of the wallet', journal.funded, wallet.funded],
    ['reserved of the wallet', journal.reserved, wallet.reserved],
    ['charged to the wallet', journal.settled, wallet.settled],
    ['records of fundings in this time', sum(bookings, 'fund'), fundings],
    ['records of corrections in this time', sum(bookings, 'correct'), corrections],
  ]
  return pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expected, found]) => ({ what, expected: Number(expected), found: Number(found) }))
}

function sum(bookings: Booking[], of: Booking['kind']): bigint {
  return bookings.reduce((all, { kind, micro }) => (kind === of ? all + micro : all), 0n)
}
