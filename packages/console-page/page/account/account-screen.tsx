import { useMutation } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Copyable } from '../components/copyable.tsx'
import { Facts } from '../components/facts.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { TokensSection } from '../settings/tokens-section.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactorSection } from './second-factor-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { usePersonalTokens } from './use-personal-tokens.ts'

/** The user's profile, personal tokens, second factor, sessions and password. */
export function AccountScreen() {
  const { id, name, email, platformOperator, tenants } = useMe()
  const signOut = useMutation({
    mutationFn: () => ask('DELETE', '/api/v2/session', { params: {} }),
    onSuccess: () => location.assign(import.meta.env.BASE_URL),
  })
  return (
    <Screen
      title="Account"
      actions={
        <button type="button" className="button" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </button>
      }
    >
      <RefusalBox error={signOut.error} />
      <section className="card stack" aria-label="Your account">
        <Facts
          of={[
            ['Name', name],
            ['Email', email],
            ['Platform operator', platformOperator ? 'yes' : null],
            ['Organizations', tenants.map((each) => `${each.name} (${each.role})`).join(', ') || 'none'],
          ]}
        />
        <h3>User ID</h3>
        <p className="soft">Names you in the API and in audit logs.</p>
        <Copyable text={id} label="Copy user ID" />
      </section>
      <TokensSection
        title="Personal tokens"
        of={usePersonalTokens()}
        text="Until it expires, anyone who sends one as Authorization: Bearer svu_… can do what you can, in its scopes. For scripts, prefer a service token, which doesn't depend on you."
      />
      <SecondFactorSection />
      <SessionsSection />
      <PasswordForm email={email} />
    </Screen>
  )
}
