import { useLocation } from '@tanstack/react-router'
import { addressToComeBackTo } from '@gateway/api/console/console-address'
import type { SignInMethods } from '@gateway/api/console/sign-in'

/** The way through the sign-in provider of the organization, and back to this address. */
export function ProviderLink({ provider }: { provider: NonNullable<SignInMethods['provider']> }) {
  useLocation() // whatever it becomes
  const returnTo = new URLSearchParams({ returnTo: addressToComeBackTo(location) })
  return (
    <>
      {provider.isReached ? (
        <a className="button wide-button" href={`${provider.path}?${returnTo}`}>
          Continue with single sign-on
        </a>
      ) : (
        <p className="notice">Single sign-on can not be reached at the moment. A password still works.</p>
      )}
      <p className="or">or with a password</p>
    </>
  )
}
