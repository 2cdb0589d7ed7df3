import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { useScope } from '../../api/session.ts'
import { Copyable } from '../../components/copying.tsx'
import { SelectField } from '../../components/select.tsx'
import { KEY_NAME, type ShownCode } from '../code/source-text.ts'

/** Code samples for a request, selectable by language or tool. */
export function CodePanel({ of: codes }: { of: ShownCode[] }) {
  const [title, setTitle] = useState(codes[0]!.title)
  const scope = useScope()
  const shown = codes.find((code) => code.title === title) ?? codes[0]!
  return (
    <div className="stack playground-code">
      <SelectField
        label="Language or tool"
        value={shown.title}
        options={codes.map(({ title }) => [title, title] as const)}
        onChange={setTitle}
      />
      {shown.install !== null && (
        <Copyable text={shown.install} label={`Copy the install command for ${shown.title}`} />
      )}
      <Copyable text={shown.text} label={`Copy the code for ${shown.title}`} />
      <p className="soft small">
        Reads an API key from the environment variable <code>{KEY_NAME}</code>. Create one under{' '}
        <Link to="/projects/$tenant/$project/keys" params={scope}>
          API keys
        </Link>
        .
      </p>
    </div>
  )
}
