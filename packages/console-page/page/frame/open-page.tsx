import type { ReactNode } from 'react'

/** Page for users who are not signed in: the product's name above one card. */
export function OpenPage({ children }: { children: ReactNode }) {
  return (
    <div className="open-page">
      <p className="brand">
        <Brand />
      </p>
      <main className="narrow card">{children}</main>
    </div>
  )
}

/** The product's mark and name. The mark: two lines that meet a gate, and one that leaves it. */
export function Brand() {
  return (
    <>
      <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="M7 11h5l4 5m-9 5h5l4-5m0 0h9M16 8v3m0 10v3" />
      </svg>
      <span className="rail-text">Model Gateway</span>
    </>
  )
}

/** Pages that need no sign-in. */
export const openPages = { invitation: '/invitation', reset: '/reset' } as const

export function isOpenPage(pathname: string): boolean {
  return Object.values<string>(openPages).includes(pathname)
}
