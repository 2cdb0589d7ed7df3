// What was added up from a journal, against the journal itself: derived again in steps of entries, so that no snapshot is
// long, and compared row by row.

/** A row by its name, with its figures in an order of their own. */
export interface Summed {
  name: string
  figures: bigint[]
}

/** A row that is not what the journal says. */
export interface Differing {
  name: string
  expected: bigint[]
  found: bigint[]
}

interface Derivation {
  /** The rows as they are, and the entry that they reach up to, in one view. */
  read(): Promise<{ seq: bigint; rows: Summed[] }>
  /** The rows that the entries after `from` make, up to `last`. */
  derive(from: bigint, last: bigint): Promise<Summed[]>
}

const STEP = 20_000n

/** Answers the rows that differ. Those that grow meanwhile are looked at again. @param after the entry to begin behind */
export async function deriveAgain({ read, derive }: Derivation, after: bigint): Promise<Differing[]> {
  const expected = new Map<string, bigint[]>()
  for (let at = after; ;) {
    const { seq, rows } = await read()
    if (at >= seq) return differing(expected, rows)
    while (at < seq) {
      const last = at + STEP < seq ? at + STEP : seq
      for (const row of await derive(at, last)) addTo(expected, row)
      at = last
    }
  }
}

function addTo(rows: Map<string, bigint[]>, { name, figures }: Summed): void {
  const before = rows.get(name)
  rows.set(name, before ? figures.map((figure, n) => figure + before[n]!) : figures)
}

function differing(expected: ReadonlyMap<string, bigint[]>, rows: Summed[]): Differing[] {
  const found = new Map(rows.map(({ name, figures }) => [name, figures]))
  const names = [...new Set([...found.keys(), ...expected.keys()])]
  return names
    .map((name) => {
      const none = (found.get(name) ?? expected.get(name)!).map(() => 0n)
      return { name, expected: expected.get(name) ?? none, found: found.get(name) ?? none }
    })
    .filter(({ expected: one, found: other }) => one.some((figure, n) => figure !== other[n]))
}
