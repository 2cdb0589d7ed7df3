import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { PopupMenu } from './popup-menu.tsx'

export function AccountMenu() {
  const { name, email } = useMe()
  const signOut = useMutation({
    mutationFn: () => ask('DELETE', '/api/v2/session', { params: {} }),
    // Nothing that was read stays in this tab.
    onSuccess: () => location.assign(import.meta.env.BASE_URL),
  })
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
      <Link to="/account">Password and personal tokens</Link>
      <button type="button" className="item" onClick={() => signOut.mutate()}>
        Sign out
      </button>
      <RefusalBox error={signOut.error} />
    </PopupMenu>
  )
}
