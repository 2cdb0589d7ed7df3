import { useEffect, useRef } from 'react'
import { useQuery } from '@tanstack/react-query'
import { isSignedOut } from '../api/failed.ts'
import { readingMe } from '../api/session.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { SignInScreen } from '../sign-in/sign-in-screen.tsx'
import { AppFrame } from './app-frame.tsx'

/**
 * The console for anyone who is signed in, else a way in at the same address. A session that ends by itself is begun again over the
 * screen, which stays unchanged: nothing that was typed is lost.
 */
export function SessionGuard() {
  const { data: me, error } = useQuery(readingMe)
  useReloadForSomebodyElse(me?.id)
  if (me)
    return (
      <>
        <AppFrame />
        {isSignedOut(error) && <SignInAgain email={me.email} />}
      </>
    )
  if (isSignedOut(error)) return <SignInScreen />
  return (
    <main className="narrow">
      <RefusalBox error={error} />
    </main>
  )
}

/** Who signed in meanwhile in another tab sees nothing of who was here before. */
function useReloadForSomebodyElse(id: string | undefined): void {
  const before = useRef(id)
  useEffect(() => {
    if (before.current !== undefined && id !== undefined && id !== before.current) location.reload()
    before.current = id
  }, [id])
}
