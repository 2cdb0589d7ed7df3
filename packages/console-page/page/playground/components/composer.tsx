import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Field } from '../../components/fields.tsx'
import { isComposing } from '../../components/is-composing.ts'
import { Select } from '../../components/select.tsx'
import type { Conversation } from '../core/conversation.ts'
import { ShownImage } from './shown-image.tsx'
import { isImageData } from '@gateway/api/attachments'

type Draft = Conversation['draft']

const roles = [
  ['user', 'User'],
  ['assistant', 'Assistant'],
] as const

/** Form for the next message. */
export function Composer({
  draft,
  takesImages,
  isStreaming,
  cannot,
  onChange,
  onSend,
  onAdd,
  onStop,
  children,
}: {
  draft: Draft
  takesImages: boolean
  isStreaming: boolean
  /** Why nothing can be sent, or null if it can. */
  cannot: string | null
  onChange: (draft: Draft) => void
  onSend: () => void
  /** Appends the message without sending it. */
  onAdd: () => void
  onStop: () => void
  /** Shown at the end of the buttons. */
  children: ReactNode
}) {
  const [fault, setFault] = useState<string | null>(null)
  const latest = useRef(draft) // what was typed while images were read
  useEffect(() => void (latest.current = draft))
  const addImages = async (files: FileList | null) => {
    const read = await Promise.all([...(files ?? [])].map(readImage))
    setFault(read.includes(null) ? 'Choose PNG, JPEG, WebP or GIF images.' : null)
    const { current: now } = latest
    onChange({ ...now, images: [...now.images, ...read.filter((url) => url !== null)] })
  }
  return (
    <form
      className="card stack playground-composer"
      aria-label="New message"
      onSubmit={(event) => {
        event.preventDefault()
        if (isStreaming) onStop()
        else if (cannot === null) onSend()
      }}
    >
      <Field label="Message" hint="Enter to send, Shift+Enter for a new line" fault={fault}>
        {(ids) => (
          <textarea
            {...ids}
            rows={2}
            value={draft.text}
            onChange={({ target }) => onChange({ ...draft, text: target.value })}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
              event.preventDefault()
              if (!isStreaming) event.currentTarget.form?.requestSubmit()
            }}
          />
        )}
      </Field>
      {draft.images.length > 0 && (
        <ul className="playground-images">
          {draft.images.map((url, n) => (
            <li key={url}>
              <ShownImage url={url} label={`Image ${n + 1}`} />
              <button
                type="button"
                className="button small quiet"
                onClick={() => onChange({ ...draft, images: draft.images.filter((_, each) => each !== n) })}
              >
                Remove image {n + 1}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="buttons">
        <button
          type="submit"
          className={`button main ${isStreaming ? 'danger' : ''}`}
          disabled={!isStreaming && cannot !== null}
        >
          {isStreaming ? 'Stop' : 'Send'}
        </button>
        <button type="button" className="button" disabled={draft.text === '' || isStreaming} onClick={onAdd}>
          Append only
        </button>
        <div className="playground-role">
          <Select
            aria-label="Role"
            value={draft.role}
            options={roles}
            onChange={(role) => onChange({ ...draft, role })}
          />
        </div>
        {takesImages && draft.role === 'user' && (
          <label className="button playground-file">
            Add images
            <input
              type="file"
              multiple
              className="visually-hidden"
              accept="image/png,image/jpeg,image/webp,image/gif"
              onChange={({ target }) => {
                void addImages(target.files).then(() => (target.value = ''))
              }}
            />
          </label>
        )}
        <span className="playground-total">{children}</span>
      </div>
      {cannot !== null && !isStreaming && <p className="soft small">{cannot}</p>}
    </form>
  )
}

/** Image file as a `data:` URL for a chat message, or null if its type isn't supported. */
async function readImage(file: File): Promise<string | null> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error!))
    reader.readAsDataURL(file)
  })
  return isImageData(url) ? url : null
}
