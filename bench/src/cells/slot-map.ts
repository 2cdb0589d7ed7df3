import { createHash } from 'node:crypto'

// A fixed map from projects to cells, each with its own primary: a project has a slot for life, and a slot has a cell. So a
// gateway needs a key's project, which never changes, and a table of 4,096 numbers.

export const SLOTS = 4_096

/** The cell of each slot. */
export type SlotMap = readonly number[]

export function slotOf(project: string): number {
  return createHash('sha256').update(project).digest().readUInt32BE(0) % SLOTS
}

export function evenMap(cells: number): SlotMap {
  return Array.from({ length: SLOTS }, (_, slot) => slot % cells)
}

/** The load of each cell, in the unit of the loads of slots. */
export function cellLoads(map: SlotMap, slotLoads: readonly number[], cells: number): number[] {
  const loads = Array.from({ length: cells }, () => 0)
  for (const [slot, cell] of map.entries()) loads[cell]! += slotLoads[slot]!
  return loads
}

/**
 * Moves slots from the fullest cell to the emptiest until no cell has more than `most` times the mean, or no move
 * helps. A new cell is one without slots.
 */
export function rebalance(map: SlotMap, slotLoads: readonly number[], cells: number, most: number): SlotMap {
  const next = [...map]
  const loads = cellLoads(map, slotLoads, cells)
  const slotsOf = Array.from({ length: cells }, (_, cell) =>
    [...next.keys()].filter((slot) => next[slot] === cell).toSorted((a, b) => slotLoads[b]! - slotLoads[a]!),
  )
  const mean = loads.reduce((sum, load) => sum + load, 0) / cells
  for (;;) {
    const fullest = loads.indexOf(Math.max(...loads))
    const emptiest = loads.indexOf(Math.min(...loads))
    if (loads[fullest]! <= most * mean) return next
    // The largest slot that does not only exchange their roles: few slots move.
    const room = (loads[fullest]! - loads[emptiest]!) / 2
    const at = slotsOf[fullest]!.findIndex((slot) => slotLoads[slot]! <= room && slotLoads[slot]! > 0)
    if (at < 0) return next
    const [slot] = slotsOf[fullest]!.splice(at, 1)
    slotsOf[emptiest]!.push(slot!)
    next[slot!] = emptiest
    loads[fullest]! -= slotLoads[slot!]!
    loads[emptiest]! += slotLoads[slot!]!
  }
}

export function movedSlots(before: SlotMap, after: SlotMap): number {
  return before.filter((cell, slot) => cell !== after[slot]).length
}
