import type { Group, SetAside, Remembered } from './set-aside.ts'

// Beside a batcher: what is remembered (set-aside.ts) goes with none of its batches.

interface AsideOptions<Entry> {
  setAside: SetAside
  idOf: (entry: Entry) => string
  /** Its own group first. While one of the others is remembered, it is not tried: it would prove nothing about them. */
  groupsOf: (entry: Entry) => readonly Group[]
  /** Decides it alone and answers it. Must not reject. */
  tryAlone: (entry: Entry) => Promise<void>
  /** Answers it from memory. Must not reject. */
  answer: (entry: Entry, remembered: Remembered) => Promise<void>
}

export interface Aside<Entry> {
  /** Takes an item that is remembered: it is tried alone if its turn has come, or answered at once. Answers whether it was taken. */
  take(entry: Entry): boolean
  /** Answers those that are remembered. The others are left. */
  leaveOut(entries: readonly Entry[]): Entry[]
  /** It was refused alone: it is remembered, and will be answered. */
  refused(entry: Entry, error: unknown): void
  /** Work that no batch waits for. Must not reject. */
  track(work: Promise<void>): void
  /** Resolves when nothing is tried or answered any more. */
  idle(): Promise<void>
}

const NO_ID = ''

export function openAside<Entry>({ setAside, idOf, groupsOf, tryAlone, answer }: AsideOptions<Entry>): Aside<Entry> {
  const underWay = new Set<Promise<void>>()

  function rememberedOf(entry: Entry): Remembered | null {
    const groups = groupsOf(entry)
    const remembered = setAside.find(idOf(entry), groups)
    if (remembered !== null && groups[0] !== undefined) setAside.belongs(idOf(entry), groups[0])
    return remembered
  }

  function mayTry(entry: Entry): boolean {
    const [own, ...others] = groupsOf(entry)
    if (setAside.find(NO_ID, others) !== null) return false
    return setAside.mayTry(idOf(entry), own === undefined ? [] : [own])
  }

  function track(work: Promise<void>): void {
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  }

  return {
    take(entry) {
      const remembered = rememberedOf(entry)
      if (remembered === null) return false
      track(mayTry(entry) ? tryAlone(entry) : answer(entry, remembered))
      return true
    },
    leaveOut: (entries) =>
      entries.filter((entry) => {
        const remembered = rememberedOf(entry)
        if (remembered !== null) track(answer(entry, remembered))
        return remembered === null
      }),
    refused(entry, error) {
      setAside.refused(idOf(entry), groupsOf(entry)[0] ?? null, error)
      const remembered = rememberedOf(entry)
      if (remembered !== null) track(answer(entry, remembered)) // nobody else waits for it
    },
    track,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
