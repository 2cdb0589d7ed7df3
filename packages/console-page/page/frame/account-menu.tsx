import { Link } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { PopupMenu } from './popup-menu.tsx'
import { useSignOut } from './use-sign-out.ts'

export function AccountMenu() {
  const { name, email } = useMe()
  const signOut = useSignOut()
  const label = (
    <>
      <Icon name="account" />
      <span className="visually-hidden">Account</span>
    </>
  )
  return (
    <PopupMenu className="menu" label={label} summaryClass="button quiet icon-only">
      <h3>{name}</h3>
      <p className="soft small">{email}</p>
      <Link to="/account">Account and security</Link>
      <Link to="/account/security-log">Security log</Link>
      <button type="button" className="item" onClick={() => signOut.mutate()}>
        Sign out
      </button>
      <RefusalBox error={signOut.error} />
    </PopupMenu>
  )
}
