/** Queues that take turns: each gives its first item and, with what is left of it, goes to the end of the line. */
export class Turns<T> {
  readonly #queues = new Map<string, T[]>()
  #size = 0

  /** Items in all queues. */
  get size(): number {
    return this.#size
  }

  add(name: string, item: T): void {
    this.#size++
    const queue = this.#queues.get(name)
    if (queue) queue.push(item)
    else this.#queues.set(name, [item])
  }

  /** Takes `max` items at most. One that doesn't fit loses its turn and stays. */
  take(max: number, fits: (item: T) => boolean): T[] {
    const taken: T[] = []
    const stay: [string, T][] = []
    for (const [name, queue] of this.#queues) {
      if (taken.length >= max) break
      const item = queue.shift()!
      this.#size--
      this.#queues.delete(name)
      if (queue.length > 0) this.#queues.set(name, queue) // a map goes on to what is set meanwhile
      if (fits(item)) taken.push(item)
      else stay.push([name, item])
    }
    for (const [name, item] of stay) this.add(name, item)
    return taken
  }

  /** The first of each queue: none behind it has been there for longer. */
  *heads(): Iterable<T> {
    for (const [first] of this.#queues.values()) yield first!
  }

  /** Takes out what is to leave, whosever turn it is. */
  remove(leaves: (item: T) => boolean): T[] {
    const removed: T[] = []
    for (const [name, queue] of this.#queues) {
      const leaving = queue.filter(leaves)
      if (leaving.length === 0) continue
      removed.push(...leaving)
      if (leaving.length === queue.length) this.#queues.delete(name)
      else
        this.#queues.set(
          name,
          queue.filter((item) => !leaves(item)),
        )
    }
    this.#size -= removed.length
    return removed
  }

  /** Takes a whole queue out of the line. */
  takeQueue(name: string): T[] {
    const queue = this.#queues.get(name) ?? []
    this.#queues.delete(name)
    this.#size -= queue.length
    return queue
  }
}
