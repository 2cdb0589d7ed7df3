import { CopyButton } from './copy-button.tsx'

/** A text that is there to be taken along. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div className="copyable">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  )
}
