import type { Balances } from './read-books.ts'
import { isOfBudget, windowName, type Checkpoint, type Finding, type SpentByWindow } from './fold-journal.ts'

/** Returns the differences between a wallet with its meters and open reservations, and its journal. */
export function compareBalances(project: string, at: Checkpoint, found: Balances, spent: SpentByWindow): Finding[] {
  const findings: Finding[] = []
  const same = (what: string, where: string, expectedMicro: bigint, foundMicro: bigint) => {
    if (expectedMicro !== foundMicro) findings.push({ what, where, expectedMicro, foundMicro })
  }
  const wallet = `wallet ${project}`
  same('funded differs from the journal', wallet, at.funded, found.funded)
  same('reserved differs from the journal', wallet, at.reserved, found.reserved)
  same('settled differs from the journal', wallet, at.settled, found.settled)
  same('reserved differs from the open reservations', wallet, found.open_micro, found.reserved)
  same('the journal has fewer entries than the wallet records', wallet, found.journal_seq, at.seq)
  if (!at.seal.equals(found.seal))
    findings.push({ what: 'the seal differs from the journal', where: wallet, expectedMicro: 0n, foundMicro: 0n })
  if (found.settled + found.reserved > found.funded)
    findings.push({
      what: 'reserved and settled exceed funded',
      where: wallet,
      expectedMicro: found.funded,
      foundMicro: found.settled + found.reserved,
    })
  // If a window with spending or reservations is later than that of its meter, or has no meter, its key can spend
  // twice.
  const newest = new Map(found.meters.map((meter) => [meter.lineage, new Date(meter.windowStart)]))
  const reserved = found.windows.map((window) => ({
    ...window,
    windowStart: new Date(window.windowStart),
    micro: BigInt(window.micro),
  }))
  for (const { lineage, windowStart, micro } of [...spent.values(), ...reserved]) {
    if (isOfBudget(lineage)) continue // check-budgets.ts
    const start = newest.get(lineage)
    if (!start || start < windowStart)
      same('the meter of this window is missing', `meter ${lineage} from ${windowStart.toISOString()}`, micro, 0n)
  }
  for (const meter of found.meters) {
    const where = `meter ${meter.lineage} from ${meter.windowStart}`
    const folded = spent.get(windowName(meter.lineage, new Date(meter.windowStart)))?.micro ?? 0n
    same('reserved differs from the open reservations', where, BigInt(meter.open), BigInt(meter.reserved))
    same('spent differs from the journal', where, folded, BigInt(meter.spent))
  }
  return findings
}
