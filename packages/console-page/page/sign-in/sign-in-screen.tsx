import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingSignInMethods } from '../api/session.ts'
import { OpenPage } from '../frame/open-page.tsx'
import { openPages } from '../frame/open-pages.ts'
import { Screen } from '../frame/screen.tsx'
import { ProviderLink } from './provider-link.tsx'
import { SignInForm } from './sign-in-form.tsx'

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
