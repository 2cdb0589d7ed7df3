import { useLayoutEffect, useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { useMe } from '../../api/session.ts'
import { runInputs, type RunInputs } from './run-inputs.ts'

/** By storage key. Shared by all forms: an upload that ends after its form was left changes the form that is open. */
const opened = new Map<string, KeptInputs>()
type KeptInputs = ReturnType<typeof openKeptInputs>

/** Inputs of a flow, kept in this browser. The editor and the playground show the same ones. */
export function useKeptInputs(sandbox: string) {
  const { id: user } = useMe()
  const [{ store, open, now, keep }] = useState(() => {
    const stored = runInputs(localStorage, { user, sandbox })
    const inputs = opened.get(stored.key) ?? openKeptInputs(stored)
    opened.set(stored.key, inputs)
    return inputs
  })
  useLayoutEffect(open, [open])
  return { inputs: useStore(store), now, keep }
}

function openKeptInputs(stored: ReturnType<typeof runInputs>) {
  /** `source` names where the inputs came from. */
  const store = createStore(() => ({ ...stored.read(), source: '' }))
  let forms = 0
  const now = () => {
    if (forms === 0) store.setState(stored.read()) // another window may have changed them
    return store.getState()
  }
  const readSets = ({ key }: StorageEvent) => key === stored.key && store.setState({ sets: stored.read().sets })
  return {
    store,
    /** Opens a form. Returns the function that closes it. */
    open() {
      now()
      forms += 1
      addEventListener('storage', readSets) // of other windows, whose sets would be overwritten
      return () => {
        forms -= 1
        removeEventListener('storage', readSets)
      }
    },
    now,
    /** Returns whether they could be stored. */
    keep(changed: Partial<RunInputs & { source: string }>): boolean {
      store.setState({ ...now(), sets: stored.read().sets, ...changed })
      const { source: _, ...kept } = store.getState()
      return stored.keep(kept)
    },
  }
}
