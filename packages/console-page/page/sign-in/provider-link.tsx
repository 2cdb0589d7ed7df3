import type { SignInMethods } from '@gateway/contracts/console/sign-in'

/** The way through the sign-in provider of the organization. */
export function ProviderLink({ provider }: { provider: NonNullable<SignInMethods['provider']> }) {
  return (
    <>
      {provider.isReached ? (
        <a className="button wide-button" href={provider.path}>
          Continue with single sign-on
        </a>
      ) : (
        <p className="notice">Single sign-on can not be reached at the moment. A password still works.</p>
      )}
      <p className="or">or with a password</p>
    </>
  )
}
