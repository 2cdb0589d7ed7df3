// Items that wait for a batch, first come, first served.
//   W1  Of two under one name one waits: the first, for both. So what is sent again and again takes the room of one.
//   W2  An item past its time is dropped: by whoever takes, and by a timer while nobody does.

export interface WaitingLineOptions<Item> {
  /** What two copies of one item have in common. */
  nameOf: (item: Item) => unknown
  /** Has the first answered for its copy too, and wait for as long as the copy may. The copy itself is not kept. */
  join: (first: Item, copy: Item) => void
  /** The moment past which nobody waits for it any more, by `now`. */
  dropAtMs: (item: Item) => number
  /** Its time is over: it will never be taken. */
  drop: (item: Item) => void
  /** Monotonic milliseconds. */
  now: () => number
}

export class WaitingLine<Item> {
  readonly #options: WaitingLineOptions<Item>
  /** In the order in which they are taken. */
  readonly #waiting = new Map<unknown, { item: Item; sinceMs: number }>()

  constructor(options: WaitingLineOptions<Item>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** How long the first one has stood here; 0: nothing waits. Milliseconds. */
  get oldestMs(): number {
    for (const { sinceMs } of this.#waiting.values()) return this.#options.now() - sinceMs
    return 0
  }

  add(item: Item): void {
    const { nameOf, join, now } = this.#options
    const name = nameOf(item)
    const first = this.#waiting.get(name)
    if (first === undefined) this.#waiting.set(name, { item, sinceMs: now() })
    else join(first.item, item) // W1
  }

  /** Takes `max` items at most. One that doesn't fit stays in its place. */
  take(max: number, fits: (item: Item) => boolean = () => true): Item[] {
    const taken: Item[] = []
    for (const [name, { item }] of this.#waiting) {
      if (taken.length >= max) break
      if (this.#dropIfLate(name, item) || !fits(item)) continue
      this.#waiting.delete(name)
      taken.push(item)
    }
    return taken
  }

  /** W2 */
  dropLate(): void {
    for (const [name, { item }] of this.#waiting) this.#dropIfLate(name, item)
  }

  #dropIfLate(name: unknown, item: Item): boolean {
    const { dropAtMs, drop, now } = this.#options
    if (now() < dropAtMs(item)) return false
    this.#waiting.delete(name)
    drop(item)
    return true
  }
}
