import { useEffect, useRef } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation } from '@tanstack/react-router'
import { isSignedOut } from '../api/failed.ts'
import { readingMe } from '../api/session.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { SignInScreen } from '../sign-in/sign-in-screen.tsx'
import { AppFrame } from './app-frame.tsx'
import { Brand } from './brand.tsx'
import { OpenPage } from './open-page.tsx'
import { isOpenPage } from './open-pages.ts'

/**
 * Shows the console to a signed-in user, and the sign-in screen at the same URL to others. If the session expires, the
 * user signs in again over the current screen, so typed text is not lost.
 */
export function SessionGuard() {
  const { data: me, error } = useQuery(readingMe)
  const { pathname } = useLocation()
  useReloadForOtherUser(me?.id)
  if (isOpenPage(pathname))
    return (
      <OpenPage>
        <Outlet />
      </OpenPage>
    )
  if (me)
    return (
      <>
        <AppFrame />
        {isSignedOut(error) && <SignInAgain email={me.email} />}
      </>
    )
  if (isSignedOut(error)) return <SignInScreen />
  if (error === null) return <Splash />
  return (
    <main className="narrow">
      <RefusalBox error={error} />
    </main>
  )
}

/** As index.html has it until the scripts are loaded. */
function Splash() {
  return (
    <div className="splash">
      <Brand />
    </div>
  )
}

/** Reloads if another user signed in from another tab, so that they do not see the previous user's data. */
function useReloadForOtherUser(id: string | undefined): void {
  const before = useRef(id)
  useEffect(() => {
    if (before.current !== undefined && id !== undefined && id !== before.current) location.reload()
    before.current = id
  }, [id])
}
