// Moving a project from one cell to another, as a model: its steps in any order with calls of gateways that have an old
// map, with crashes of the mover, and with settlements that come late.
//   M1  The old cell stops admitting first, and still settles. Its answer `moving` may be retried.
//   M2  Its books are copied meanwhile, open reservations included. The old cell gives the project up only if its seal
//       is still that of the copy; if a call was settled since, they are copied again.
//   M3  The old cell gives the project up before the new one takes it, so at no moment do two cells admit.
//   M4  Each step is one transaction in one cell, and reads there how far the move has come: a mover that was killed
//       starts again from the beginning.
//   M5  A cell that has given the project up answers `moved`, to admissions and settlements alike. The gateway reads the
//       map again and asks the new one.

interface Books {
  funded: number
  reserved: number
  settled: number
  /** Outcome of each call: its charge, or null while it is reserved. */
  calls: Map<string, number | null>
}

interface Cell {
  state: 'home' | 'leaving' | 'gone' | 'arriving' | 'none'
  books: Books | null
}

export interface World {
  cells: [Cell, Cell]
  /** The cell that each gateway's map names. */
  maps: number[]
  /** Calls that a provider is answering: id, gateway. */
  open: Map<string, number>
  /** The charges that callers were told. */
  told: Map<string, number>
  refusals: number
  retries: number
}

export const BOUND = 10

export function openWorld(gateways: number, funded: number): World {
  return {
    cells: [
      { state: 'home', books: { funded, reserved: 0, settled: 0, calls: new Map() } },
      { state: 'none', books: null },
    ],
    maps: Array.from({ length: gateways }, () => 0),
    open: new Map(),
    told: new Map(),
    refusals: 0,
    retries: 0,
  }
}

/** A step of the mover, decided from what the cells say alone (M4). Returns whether the move is over. */
export function moveOn({ cells: [from, to] }: World): boolean {
  if (from.state === 'home') from.state = 'leaving' // M1
  else if (from.state === 'leaving' && to.state === 'none') {
    to.books = structuredClone(from.books!) // M2
    to.state = 'arriving'
  } else if (from.state === 'leaving') {
    if (isSame(from.books!, to.books!)) from.state = 'gone' // M3
    else to.state = 'none'
  } else if (from.state === 'gone' && to.state === 'arriving') to.state = 'home'
  return to.state === 'home'
}

function isSame(a: Books, b: Books): boolean {
  const text = ({ calls, ...sums }: Books) => JSON.stringify([sums, [...calls]])
  return text(a) === text(b)
}

/** A gateway asks for an admission at the cell that its map names. */
export function admit(world: World, gateway: number, id: string): void {
  const cell = ask(world, gateway)
  if (cell === null || cell.state !== 'home') return void world.refusals++
  const books = cell.books!
  if (books.funded - books.settled - books.reserved < BOUND) return void world.refusals++
  books.reserved += BOUND
  books.calls.set(id, null)
  world.open.set(id, gateway)
}

/** A gateway settles one of its calls, perhaps for the second time. Returns whether a cell has decided it. */
export function settle(world: World, id: string, charge: number): boolean {
  const gateway = world.open.get(id)!
  const cell = ask(world, gateway)
  if (cell === null || (cell.state !== 'home' && cell.state !== 'leaving')) return false
  const books = cell.books!
  const before = books.calls.get(id)
  if (before === undefined) throw new Error(`${id} is unknown in the cell that has its project`)
  if (before === null) {
    books.reserved -= BOUND
    books.settled += charge
    books.calls.set(id, charge)
  }
  world.told.set(id, before ?? charge)
  return true
}

/** Returns the cell that has the project, or null if none has it at the moment (M5). */
function ask(world: World, gateway: number): Cell | null {
  const named = world.cells[world.maps[gateway]!]!
  if (named.state !== 'gone') return named
  world.retries++
  world.maps[gateway] = 1
  return world.cells[1].state === 'home' ? world.cells[1] : null
}

/** Throws unless at most one cell admits, and the books that count are whole. */
export function checkWorld({ cells }: World): void {
  if (cells.filter(({ state }) => state === 'home').length > 1) throw new Error('two cells admit calls of one project')
  const [from, to] = cells
  const { funded, reserved, settled, calls } = (from.state === 'gone' ? to : from).books!
  const charges = [...calls.values()].filter((charge) => charge !== null)
  if (settled !== charges.reduce((sum, charge) => sum + charge, 0)) throw new Error('settled differs from the charges')
  if (reserved !== BOUND * (calls.size - charges.length)) throw new Error('reserved differs from the open calls')
  if (funded - settled - reserved < 0) throw new Error('the wallet is overspent')
}
