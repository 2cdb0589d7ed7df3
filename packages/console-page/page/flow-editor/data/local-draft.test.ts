import { expect, test } from 'vitest'
import { setField } from '../core/node-commands.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { localDrafts } from './local-draft.ts'

function memory(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    key: (n) => [...kept.keys()][n] ?? null,
    get length() {
      return kept.size
    },
  }
}
const titled = (title: string) => setField(newGraph, 'in', 'title', title)
const draftOf = (title: string, at: string) => ({ graph: titled(title), baseRevision: 3, base: newGraph, at })
const at = (storage: ReturnType<typeof memory>, window: string, user = 'p') =>
  localDrafts(storage, { user, sandbox: 's', window })

test('a window reads its own draft, and other windows do not overwrite it', () => {
  const storage = memory()
  at(storage, 'a').keep(draftOf('a', '2026-01-01'))
  at(storage, 'b').keep(draftOf('b', '2026-01-02'))
  expect(at(storage, 'a').read()).toEqual(draftOf('a', '2026-01-01'))
  expect(at(storage, 'b').read()).toEqual(draftOf('b', '2026-01-02'))
})

test('a new window takes the latest draft of the same user, never of another user', () => {
  const storage = memory()
  at(storage, 'a').keep(draftOf('a', '2026-01-01'))
  at(storage, 'b').keep(draftOf('b', '2026-01-02'))
  expect(at(storage, 'c').read()).toMatchObject({ at: '2026-01-02' })
  expect(at(storage, 'c', 'other').read()).toBeNull()
})

test('a draft that a window takes over does not come back once its successor is saved', () => {
  const storage = memory()
  at(storage, 'a').keep(draftOf('a', '2026-01-01'))
  const b = at(storage, 'b')
  b.read()
  b.keep(draftOf('b', '2026-01-02'))
  b.drop()
  expect(at(storage, 'c').read()).toBeNull()
})

test('a draft that was taken over and is already saved is dropped', () => {
  const storage = memory()
  at(storage, 'a').keep(draftOf('a', '2026-01-01'))
  const b = at(storage, 'b')
  b.read()
  b.drop()
  expect(storage.length).toBe(0)
})

test('what another window has changed since its draft was taken over stays, and so do its later drafts', () => {
  const storage = memory()
  const a = at(storage, 'a')
  a.keep(draftOf('a', '2026-01-01'))
  const b = at(storage, 'b')
  b.read()
  a.keep(draftOf('a changed', '2026-01-02'))
  b.keep(draftOf('b', '2026-01-03'))
  expect(a.read()).toEqual(draftOf('a changed', '2026-01-02'))
  a.keep(draftOf('b', '2026-01-04'))
  b.drop()
  expect(a.read()).toEqual(draftOf('b', '2026-01-04'))
})

test('a window whose draft another one with its name overwrites keeps its own under a new name', () => {
  const storage = memory()
  const [first, copy] = [at(storage, 'a'), at(storage, 'a')]
  first.keep(draftOf('first', '2026-01-01'))
  copy.keep(draftOf('copy', '2026-01-02'))
  first.rename('b')
  first.keep(draftOf('first', '2026-01-03'))
  expect(copy.read()).toEqual(draftOf('copy', '2026-01-02'))
  expect(first.read()).toEqual(draftOf('first', '2026-01-03'))
})

test('ignores an invalid draft and reports full storage', () => {
  const storage = memory()
  storage.setItem('flow-draft p s a', '{"graph":')
  expect(at(storage, 'a').read()).toBeNull()
  const full = {
    ...memory(),
    length: 0,
    setItem: () => {
      throw new Error('QuotaExceededError')
    },
  }
  expect(localDrafts(full, { user: 'p', sandbox: 's', window: 'a' }).keep(draftOf('a', ''))).toBe(false)
})
