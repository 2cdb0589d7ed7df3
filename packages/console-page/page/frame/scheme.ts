import { useSyncExternalStore } from 'react'

// Color scheme: the system setting, unless the user selected one in this browser.

const STORED = 'console-scheme'
export type Scheme = 'system' | 'light' | 'dark'
const schemes: readonly Scheme[] = ['system', 'light', 'dark']

/** Applies the stored color scheme. Call it before the first render. */
export function applyStoredScheme(): void {
  apply(storedScheme())
}

const readers = new Set<() => void>()

export function useScheme(): [scheme: Scheme, choose: (scheme: Scheme) => void] {
  return [useSyncExternalStore(subscribe, storedScheme), chooseScheme]
}

function subscribe(read: () => void): () => void {
  readers.add(read)
  return () => readers.delete(read)
}

function chooseScheme(chosen: Scheme): void {
  apply(chosen)
  localStorage.setItem(STORED, chosen)
  for (const read of readers) read()
}

function storedScheme(): Scheme {
  return schemes.find((scheme) => scheme === localStorage.getItem(STORED)) ?? 'system'
}

function apply(scheme: Scheme): void {
  document.documentElement.dataset['scheme'] = scheme
}
