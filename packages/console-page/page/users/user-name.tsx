import { useMe } from '../api/session.ts'

/** Name of a user, with the email to tell namesakes apart. */
export function UserName({ of: { id, name, email } }: { of: { id: string; name: string; email: string } }) {
  const isMe = useMe().id === id
  return (
    <>
      {name}
      {isMe && <span className="soft"> (you)</span>}
      <div className="soft small">{email}</div>
    </>
  )
}
