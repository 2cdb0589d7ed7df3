import { useState } from 'react'
import { Field } from '../../components/field.tsx'
import type { TypedMessage } from '../core/conversation.ts'
import { ShownImage } from './shown-image.tsx'

/** Typed message. It can be edited, and the conversation resent from there. */
export function MessageCard({
  of: { role, text, images },
  isStreaming,
  canSend,
  onChange,
  onSend,
  onRemove,
}: {
  of: TypedMessage
  isStreaming: boolean
  canSend: boolean
  onChange: (text: string) => void
  /** Sends the edited text and drops everything after it. */
  onSend: (text: string) => void
  onRemove: () => void
}) {
  const [typed, setTyped] = useState<string | null>(null)
  const end = (act: (text: string) => void) => {
    if (typed !== null) act(typed)
    setTyped(null)
  }
  return (
    <article className={`playground-message ${role}`} aria-label={`${role} message`}>
      <h3 className="soft small">{role}</h3>
      {typed === null ? (
        <p className="playground-text">{text}</p>
      ) : (
        <Field label="Edit message">
          {(ids) => (
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user asked to edit it
            <textarea {...ids} rows={3} autoFocus value={typed} onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
      )}
      {images.map((url, n) => (
        <ShownImage key={url} url={url} label={`Image ${n + 1}`} />
      ))}
      <div className="buttons">
        {typed === null ? (
          <>
            <button type="button" className="button small quiet" disabled={isStreaming} onClick={() => setTyped(text)}>
              Edit
            </button>
            <button type="button" className="button small quiet" disabled={isStreaming} onClick={onRemove}>
              Remove
            </button>
          </>
        ) : (
          <>
            <button type="button" className="button small main" disabled={!canSend} onClick={() => end(onSend)}>
              Send from here
            </button>
            <button type="button" className="button small" onClick={() => end(onChange)}>
              Save
            </button>
            <button type="button" className="button small" onClick={() => setTyped(null)}>
              Cancel
            </button>
          </>
        )}
      </div>
    </article>
  )
}
