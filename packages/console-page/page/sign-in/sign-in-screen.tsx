import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { readingSignInMethods } from '../api/session.ts'
import { OpenPage, openPages } from '../frame/open-page.tsx'
import { Screen } from '../frame/screen.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { addressToComeBackTo } from '@gateway/api/console/console-address'
import type { SignInMethods } from '@gateway/api/console/sign-in'
import { Dialog } from '../components/dialog.tsx'

export function SignInScreen() {
  const { data } = useQuery(readingSignInMethods)
  return (
    <OpenPage>
      <Screen title="Sign in">
        {data?.provider && !data.secondFactor && <ProviderLink provider={data.provider} />}
        <SignInForm isCodeMissing={data?.secondFactor ?? false} />
        {!data?.secondFactor && (
          <p>
            <Link to={openPages.reset}>Forgot your password?</Link>
          </p>
        )}
      </Screen>
    </OpenPage>
  )
}

/** Link to single sign-on that returns to the current URL. */
function ProviderLink({ provider }: { provider: NonNullable<SignInMethods['provider']> }) {
  useLocation() // re-renders when the URL changes
  const returnTo = new URLSearchParams({ returnTo: addressToComeBackTo(location) })
  return (
    <>
      {provider.isReached ? (
        <a className="button wide-button" href={`${provider.path}?${returnTo}`}>
          Continue with single sign-on
        </a>
      ) : (
        <p className="notice">Single sign-on is unavailable. You can still sign in with a password.</p>
      )}
      <p className="or">or with a password</p>
    </>
  )
}

/** Dialog over the current screen when the session has expired. The screen keeps its state. */
export function SignInAgain({ email }: { email: string }) {
  const { data } = useQuery(readingSignInMethods)
  return (
    <Dialog title="Your session has ended" stays onClose={() => {}}>
      <p>Sign in again. The page stays as you left it.</p>
      {data?.provider?.isReached && (
        <>
          <a className="button wide-button" href={data.provider.path} target="_blank" rel="noreferrer">
            Continue with single sign-on, in a new tab
          </a>
          <p className="soft small">Come back to this tab once you are signed in there.</p>
          <p className="or">or with a password</p>
        </>
      )}
      <SignInForm email={email} />
    </Dialog>
  )
}
