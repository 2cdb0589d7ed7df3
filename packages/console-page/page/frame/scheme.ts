import { useState } from 'react'

// Light or dark: as the system has it, unless somebody chose otherwise in this browser.

const STORED = 'console-scheme'
export type Scheme = 'system' | 'light' | 'dark'
const schemes: readonly Scheme[] = ['system', 'light', 'dark']

/** Before anything is shown. */
export function applyStoredScheme(): void {
  apply(storedScheme())
}

export function useScheme(): [scheme: Scheme, choose: (scheme: Scheme) => void] {
  const [scheme, setScheme] = useState(storedScheme)
  return [
    scheme,
    (chosen) => {
      apply(chosen)
      setScheme(chosen)
      localStorage.setItem(STORED, chosen)
    },
  ]
}

function storedScheme(): Scheme {
  return schemes.find((scheme) => scheme === localStorage.getItem(STORED)) ?? 'system'
}

function apply(scheme: Scheme): void {
  document.documentElement.dataset['scheme'] = scheme
}
