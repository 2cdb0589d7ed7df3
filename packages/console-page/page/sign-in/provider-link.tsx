import { useLocation } from '@tanstack/react-router'
import { addressToComeBackTo } from '@gateway/api/console/console-address'
import type { SignInMethods } from '@gateway/api/console/sign-in'

/** Link to single sign-on that returns to the current URL. */
export function ProviderLink({ provider }: { provider: NonNullable<SignInMethods['provider']> }) {
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
