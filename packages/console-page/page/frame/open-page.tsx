import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'

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
