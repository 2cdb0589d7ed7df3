import type { Checkpoint, SpentByWindow } from '../check/fold-journal.ts'
import { windowsOf } from '../check/checkpoint.ts'

// The state of a wallet at the beginning and at the end of a month, as a line of a file.

/** A wallet at its newest archived entry. */
export interface Closing {
  at: Checkpoint
  /** Amounts spent up to there, by the windows that a meter may still have. */
  windows: SpentByWindow
}

export interface WalletMonth {
  project: string
  opening: Checkpoint
  closing: Closing
}

interface Balance {
  seq: string
  at: string | null
  funded: string
  reserved: string
  settled: string
  seal: string
}

export function walletLine({ project, opening, closing }: WalletMonth): string {
  const windows = JSON.parse(windowsText(closing.windows)) as unknown
  return JSON.stringify({ project, opening: balanceOf(opening), closing: balanceOf(closing.at), windows })
}

/** @throws if the line is not valid */
export function readWalletLine(line: string): WalletMonth {
  const { project, opening, closing, windows } = JSON.parse(line) as {
    project: string
    opening: Balance
    closing: Balance
    windows: unknown
  }
  return {
    project,
    opening: checkpointOf(opening),
    closing: { at: checkpointOf(closing), windows: windowsOf(JSON.stringify(windows)) },
  }
}

/** Formats windows the way `windowsOf` reads them. */
export function windowsText(windows: SpentByWindow): string {
  const rows = [...windows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(rows.map(([, { lineage, windowStart, micro }]) => [lineage, windowStart, String(micro)]))
}

function balanceOf({ seq, at, funded, reserved, settled, seal }: Checkpoint): Balance {
  return {
    seq: String(seq),
    at: at === null ? null : at.toISOString(),
    funded: String(funded),
    reserved: String(reserved),
    settled: String(settled),
    seal: seal.toString('hex'),
  }
}

function checkpointOf({ seq, at, funded, reserved, settled, seal }: Balance): Checkpoint {
  return {
    seq: BigInt(seq),
    at: at === null ? null : new Date(at),
    funded: BigInt(funded),
    reserved: BigInt(reserved),
    settled: BigInt(settled),
    seal: Buffer.from(seal, 'hex'),
  }
}

/** Returns whether two are the same wallet at the same entry. */
export function isSame(one: Checkpoint, other: Checkpoint): boolean {
  return (
    one.seq === other.seq &&
    one.funded === other.funded &&
    one.reserved === other.reserved &&
    one.settled === other.settled &&
    one.seal.equals(other.seal)
  )
}
