import type { Statement } from '@gateway/api/console/statement'

// A statement from what was booked: pure, so that what it says can be tested against any history.

/** Days of UTC, such as 2026-11-20: the first one, and the one after the last. */
export interface Period {
  from: string
  to: string
}

/** What was booked on a day, of one kind and for one product. Micro-USD. */
export interface Booking {
  day: string
  kind: 'fund' | 'correct' | 'settle'
  /** Of settlements; else empty. */
  product: string
  entries: bigint
  /** What came in, or was charged; less than 0: taken out by a correction. */
  micro: bigint
}

/** A wallet, or the sums of all that was ever written into its journal. */
export interface Balances {
  entries: bigint
  funded: bigint
  reserved: bigint
  settled: bigint
}

/** What the books say at one moment. */
export interface Booked {
  asOf: Date
  /** The time is over for good. */
  final: boolean
  wallet: Balances
  journal: Balances
  /** The balance when the time began. */
  opening: bigint
  /** In the order of their days. */
  bookings: Booking[]
  /** By the records of fundings and of corrections in this time. */
  fundings: bigint
  corrections: bigint
  check: Statement['check']
  seal: Statement['seal']
}

/** One line of a statement, with the balance after it. */
export interface Line extends Booking {
  balance: bigint
}

export function composeStatement(booked: Booked, { from, to }: Period): { statement: Statement; lines: Line[] } {
  const { asOf, final, wallet, opening, bookings, check, seal } = booked
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
    charges: grouped(
      bookings.filter(({ kind }) => kind === 'settle'),
      ({ product }) => product,
    ).map(([model, of]) => {
      const { calls, chargedMicro } = movements(of)
      return { model, calls, chargedMicro }
    }),
    days: grouped(lines, ({ day }) => day).map(([day, of]) => ({
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

/** Each figure that the books have in two places. */
function differencesIn({ wallet, journal, bookings, fundings, corrections }: Booked): Statement['differences'] {
  const pairs: [what: string, expected: bigint, found: bigint][] = [
    ['journal entries of the wallet', journal.entries, wallet.entries],
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

function grouped<Item>(items: Item[], nameOf: (item: Item) => string): [name: string, items: Item[]][] {
  return [...Map.groupBy(items, nameOf)]
}
