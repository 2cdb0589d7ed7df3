import { useMe } from '../api/session.ts'

/** A person as people know them: by name, with the e-mail that tells two of one name apart. */
export function PersonName({ of: { id, name, email } }: { of: { id: string; name: string; email: string } }) {
  const isMe = useMe().id === id
  return (
    <>
      {name}
      {isMe && <span className="soft"> (you)</span>}
      <div className="soft small">{email}</div>
    </>
  )
}
