import { Link } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'

/** Leads a user to set up a second factor that their organization requires. */
export function SecondFactorNotice() {
  const closed = useMe().tenants.filter(({ needsSecondFactor }) => needsSecondFactor)
  if (closed.length === 0) return null
  return (
    <p className="notice">
      {closed.map(({ name }) => name).join(', ')} requires a second factor.{' '}
      <Link to="/account">Set up an authenticator app</Link>, or sign in with its code.
    </p>
  )
}
