import { useState } from 'react'
import { announce } from '../frame/announcer.ts'
import { IconButton } from './icon-button.tsx'

export function CopyButton({ text, label, isSmall = false }: { text: string; label: string; isSmall?: boolean }) {
  const [copied, setCopied] = useState<string | null>(null)
  const isCopied = copied === text
  const copy = async () => {
    const isDone = await copyText(text)
    setCopied(isDone ? text : null)
    announce(isDone ? 'Copied.' : 'Copying failed. Select the text and copy it.')
  }
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? `${label} (copied)` : label}
      className={isSmall ? 'small' : ''}
      onClick={() => void copy()}
    />
  )
}

/** Preformatted text with a copy button. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div className="copyable">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  )
}

/**
 * Copies text to the clipboard and returns whether that succeeded. Over plain HTTP, browsers only support
 * `execCommand`.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  const focused = document.activeElement
  const place = [...document.querySelectorAll('.dialog')].at(-1) ?? document.body
  place.append(field)
  field.select()
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without a secure context
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
