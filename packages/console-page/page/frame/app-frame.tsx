import { useEffect, useState } from 'react'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useAnnouncement } from './announcer.ts'
import { Rail } from './rail.tsx'
import { SecondFactorNotice } from './second-factor-notice.tsx'
import { useRailWidth } from './rail-width.ts'
import { Toasts } from './toasts.tsx'
import { TopBar } from './top-bar.tsx'

/** Layout around every screen. */
export function AppFrame() {
  const [isRailOpen, setRailOpen] = useState(false)
  const [isNarrow, setNarrow] = useRailWidth()
  const announcement = useAnnouncement()
  const { pathname } = useLocation()
  useEffect(() => setRailOpen(false), [pathname])
  useEscape(() => setRailOpen(false))
  const skip = () => document.querySelector<HTMLElement>('main h1')?.focus()
  return (
    <>
      <button type="button" className="skip" onClick={skip}>
        Skip to content
      </button>
      <div className="frame" data-rail={isNarrow ? 'narrow' : 'wide'}>
        <Rail isOpen={isRailOpen} isNarrow={isNarrow} onNarrow={setNarrow} />
        <TopBar isRailOpen={isRailOpen} onRail={() => setRailOpen(!isRailOpen)} />
        <main id="main">
          <SecondFactorNotice />
          <Outlet />
        </main>
      </div>
      <div role="status" aria-live="polite" className="visually-hidden">
        {announcement}
      </div>
      <Toasts />
    </>
  )
}

function useEscape(close: () => void): void {
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
