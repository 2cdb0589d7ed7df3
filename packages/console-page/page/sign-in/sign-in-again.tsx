import { useQuery } from '@tanstack/react-query'
import { readingSignInMethods } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { SignInForm } from './sign-in-form.tsx'

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
