import { CopyButton } from './copy-button.tsx'

/** Preformatted text with a copy button. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div className="copyable">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  )
}
