import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { usePlace } from '../../api/use-project.ts'
import { Copyable } from '../../parts/copyable.tsx'
import { Field } from '../../parts/field.tsx'
import { KEY_NAME, type ShownCode } from '../code/shown-code.ts'

/** The same request for a program that somebody writes. */
export function CodePanel({ of: codes }: { of: ShownCode[] }) {
  const [title, setTitle] = useState(codes[0]!.title)
  const place = usePlace()
  const shown = codes.find((code) => code.title === title) ?? codes[0]!
  return (
    <div className="stack playground-code">
      <Field label="Language or tool">
        {(ids) => (
          <select {...ids} value={shown.title} onChange={({ target }) => setTitle(target.value)}>
            {codes.map((code) => (
              <option key={code.title}>{code.title}</option>
            ))}
          </select>
        )}
      </Field>
      {shown.install !== null && <Copyable text={shown.install} label={`Copy what installs ${shown.title}`} />}
      <Copyable text={shown.text} label={`Copy the code for ${shown.title}`} />
      <p className="soft small">
        It reads a key of this project from the variable <code>{KEY_NAME}</code>. A key is made at{' '}
        <Link to="/projects/$tenant/$project/keys" params={place}>
          Keys
        </Link>
        .
      </p>
    </div>
  )
}
