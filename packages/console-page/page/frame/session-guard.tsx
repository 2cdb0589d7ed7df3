import { useQuery } from '@tanstack/react-query'
import { isSignedOut } from '../api/failed.ts'
import { readingMe } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { SignInForm } from '../sign-in/sign-in-form.tsx'
import { SignInScreen } from '../sign-in/sign-in-screen.tsx'
import { AppFrame } from './app-frame.tsx'

/**
 * The console for whoever is signed in, else a way in at the same address. A session that ends by itself is begun anew over the
 * screen, which stays as it is: nothing that was typed is lost.
 */
export function SessionGuard() {
  const { data: me, error } = useQuery(readingMe)
  if (me)
    return (
      <>
        <AppFrame />
        {isSignedOut(error) && (
          <Dialog title="Your session has ended" stays onClose={() => {}}>
            <p>Sign in again. The page stays as you left it.</p>
            <SignInForm email={me.email} />
          </Dialog>
        )}
      </>
    )
  if (isSignedOut(error)) return <SignInScreen />
  return (
    <main className="narrow">
      <RefusalBox error={error} />
    </main>
  )
}
